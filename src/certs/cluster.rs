//! Keeps the keyring in a Secret that all replicas share, and its bundle in rollgate's own two
//! webhook configurations. Touches nothing else in the cluster.

use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::json;
use tracing::info;

use super::issue::CannotIssue;
use super::keyring::Keyring;
use super::rotation::{self, Lifetimes, Seen, Step};

/// After how many lost races in a row a round gives up; the next one goes on.
const TRIES: usize = 10;

/// Which objects of the cluster are ours.
#[derive(Debug, Clone)]
pub struct Names {
    /// The namespace of the Secret.
    pub namespace: String,
    /// The Secret.
    pub secret: String,
    /// The MutatingWebhookConfiguration; it may be missing.
    pub mutating: String,
    /// The ValidatingWebhookConfiguration; it may be missing.
    pub validating: String,
    /// DNS names and addresses that the API server may call us by.
    pub certificate: Vec<String>,
}

/// The certificates of one cluster.
#[derive(Debug)]
pub struct Cluster {
    secrets: Api<Secret>,
    mutating: Api<MutatingWebhookConfiguration>,
    validating: Api<ValidatingWebhookConfiguration>,
    names: Names,
    life: Lifetimes,
}

/// Why a round came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The API server refused, or could not be reached.
    #[error("could not {verb} {object}")]
    Api {
        /// What was tried.
        verb: &'static str,
        /// On what.
        object: String,
        /// Why it failed.
        #[source]
        source: kube::Error,
    },
    /// No certificate could be made.
    #[error(transparent)]
    Issue(#[from] CannotIssue),
    /// Others were always faster.
    #[error("the Secret {0} changed {TRIES} times while it was being written")]
    Contended(String),
}

/// A webhook configuration as far as its bundle goes.
struct Configuration {
    name: String,
    version: String,
    /// Each webhook's name and what it trusts.
    bundles: Vec<(String, Vec<u8>)>,
}

impl Cluster {
    /// Reads and writes through this client.
    pub fn new(client: Client, names: Names, life: Lifetimes) -> Self {
        Cluster {
            secrets: Api::namespaced(client.clone(), &names.namespace),
            mutating: Api::all(client.clone()),
            validating: Api::all(client),
            names,
            life,
        }
    }

    /// Brings Secret and webhook configurations to where they should be, and gives back the keyring to
    /// serve from.
    ///
    /// Any number of replicas may do so at once.
    ///
    /// # Errors
    /// [`ClusterError`]; all of them may go away by themselves.
    pub async fn round(&self, now: Timestamp) -> Result<Keyring, ClusterError> {
        for _ in 0..TRIES {
            // The configurations first: should another replica write a newer keyring in between, it
            // will also change the configurations, and ours is the write that is refused.
            let mutating = self.mutating_configuration().await?;
            let validating = self.validating_configuration().await?;
            let secret = self.secret().await?;
            let ring = secret.as_ref().and_then(|s| Keyring::from_data(s.data.as_ref()?));
            let published = match &ring {
                Some(ring) => self.publish(ring, mutating, validating).await?,
                None => false,
            };
            let seen = Seen { keyring: ring.as_ref(), published, names: &self.names.certificate, now };
            let step = rotation::plan(&seen, &self.life);
            match (step, &ring) {
                (Step::Keep, Some(ring)) => return Ok(ring.clone()),
                _ => {
                    let next = rotation::carry_out(step, &seen, &self.life)?;
                    if self.write(secret, &next).await? {
                        info!(?step, secret = self.names.secret, "certificates rotated");
                    }
                }
            }
        }
        Err(ClusterError::Contended(self.names.secret.clone()))
    }

    async fn secret(&self) -> Result<Option<Secret>, ClusterError> {
        let name = &self.names.secret;
        self.secrets.get_opt(name).await.map_err(|e| failed("read", format!("Secret {name}"), e))
    }

    /// Writes the keyring unless the Secret has changed since it was read; says whether it did.
    async fn write(&self, read: Option<Secret>, ring: &Keyring) -> Result<bool, ClusterError> {
        let name = &self.names.secret;
        let params = PostParams::default();
        let written = match read {
            Some(mut secret) => {
                secret.data = Some(ring.to_data());
                self.secrets.replace(name, &params, &secret).await
            }
            None => {
                let metadata = ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() };
                let secret = Secret { metadata, data: Some(ring.to_data()), ..Secret::default() };
                self.secrets.create(&params, &secret).await
            }
        };
        match written {
            Ok(_) => Ok(true),
            Err(error) if is_conflict(&error) => Ok(false),
            Err(error) => Err(failed("write", format!("Secret {name}"), error)),
        }
    }

    /// Makes the configurations trust the bundle; says whether they did before.
    async fn publish(
        &self,
        ring: &Keyring,
        mutating: Option<Configuration>,
        validating: Option<Configuration>,
    ) -> Result<bool, ClusterError> {
        let bundle = ring.bundle().into_bytes();
        let mut published = true;
        if let Some(stale) = mutating.filter(|c| !c.trusts(&bundle)) {
            published = false;
            patch(&self.mutating, &stale, &bundle).await?;
        }
        if let Some(stale) = validating.filter(|c| !c.trusts(&bundle)) {
            published = false;
            patch(&self.validating, &stale, &bundle).await?;
        }
        Ok(published)
    }

    async fn mutating_configuration(&self) -> Result<Option<Configuration>, ClusterError> {
        let name = &self.names.mutating;
        let found = self.mutating.get_opt(name).await;
        let found = found.map_err(|e| failed("read", format!("MutatingWebhookConfiguration {name}"), e))?;
        Ok(found.map(|c| {
            let webhooks = c.webhooks.iter().flatten().map(|w| (&w.name, &w.client_config));
            Configuration::new(&c.metadata, webhooks)
        }))
    }

    async fn validating_configuration(&self) -> Result<Option<Configuration>, ClusterError> {
        let name = &self.names.validating;
        let found = self.validating.get_opt(name).await;
        let found = found.map_err(|e| failed("read", format!("ValidatingWebhookConfiguration {name}"), e))?;
        Ok(found.map(|c| {
            let webhooks = c.webhooks.iter().flatten().map(|w| (&w.name, &w.client_config));
            Configuration::new(&c.metadata, webhooks)
        }))
    }
}

impl Configuration {
    fn new<'w>(
        metadata: &ObjectMeta,
        webhooks: impl Iterator<Item = (&'w String, &'w WebhookClientConfig)>,
    ) -> Self {
        let bundle = |c: &WebhookClientConfig| c.ca_bundle.clone().unwrap_or_default().0;
        Configuration {
            name: metadata.name.clone().unwrap_or_default(),
            version: metadata.resource_version.clone().unwrap_or_default(),
            bundles: webhooks.map(|(name, config)| (name.clone(), bundle(config))).collect(),
        }
    }

    fn trusts(&self, bundle: &[u8]) -> bool {
        self.bundles.iter().all(|(_, trusted)| trusted == bundle)
    }
}

/// Sets the bundle of every webhook in a configuration, unless the configuration has changed since it
/// was read. A lost race is fine: the next look will tell.
async fn patch<K>(api: &Api<K>, stale: &Configuration, bundle: &[u8]) -> Result<(), ClusterError>
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let bundle = ByteString(bundle.to_vec());
    let webhooks: Vec<_> = stale
        .bundles
        .iter()
        .map(|(name, _)| json!({"name": name, "clientConfig": {"caBundle": bundle}}))
        .collect();
    let change = json!({"metadata": {"resourceVersion": stale.version}, "webhooks": webhooks});
    match api.patch(&stale.name, &PatchParams::default(), &Patch::Strategic(change)).await {
        Ok(changed) => {
            info!(configuration = changed.name_any(), kind = %K::kind(&()), "bundle published");
            Ok(())
        }
        Err(error) if is_conflict(&error) => Ok(()),
        Err(error) => Err(failed("patch", format!("{} {}", K::kind(&()), stale.name), error)),
    }
}

fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}

fn failed(verb: &'static str, object: String, source: kube::Error) -> ClusterError {
    ClusterError::Api { verb, object, source }
}
