//! The way to the API server: connections, TLS, and who we say we are.
//!
//! Everything that the kubeconfig says is read by `kube`; only the outermost layers of its client are left
//! out. It passes every call through a queue and a task of its own, and a retrying layer, neither of which
//! a controller wants.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::ConfigExt as _;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceBuilder, ServiceExt as _};

/// How we call ourselves. Objects remember the part before the slash as the manager of what is written.
const AGENT: &str = concat!("rollgate/", env!("CARGO_PKG_VERSION"));

/// How long the server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(30);

/// Bytes that a connection reads at once: a whole TLS record. With sizes that adapt, hyper's default, a rollout
/// takes a tenth more processor time.
const READ: usize = 16 * 1024;

/// Why there is no way to the API server.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The configuration is of no use, as with a key that is none.
    #[error("the API server's address or credentials cannot be used")]
    Config(#[from] kube::Error),
    /// The configuration asks for a proxy.
    #[error("the API server cannot be reached by way of a proxy ({0})")]
    Proxy(http::Uri),
}

type Stack = BoxCloneSyncService<Request<Full<Bytes>>, Response<Incoming>, BoxError>;

/// Sends requests to one API server, as one user.
#[derive(Debug, Clone)]
pub struct Transport {
    stack: Stack,
}

impl Transport {
    /// To the API server that `config` names. Connections are made when they are needed.
    ///
    /// # Errors
    /// [`TransportError`]; see there.
    pub fn new(mut config: kube::Config) -> Result<Transport, TransportError> {
        if let Some(proxy) = config.proxy_url {
            return Err(TransportError::Proxy(proxy));
        }
        config.headers.retain(|(name, _)| name != header::USER_AGENT);
        config.headers.push((header::USER_AGENT, http::HeaderValue::from_static(AGENT)));
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT));
        let tls = config.rustls_https_connector_with_connector(tcp)?;
        let client = Client::builder(TokioExecutor::new()).http1_read_buf_exact_size(READ).build(tls);
        let stack = ServiceBuilder::new()
            .layer(config.base_uri_layer())
            .option_layer(config.auth_layer()?)
            .layer(config.extra_headers_layer()?)
            .map_err(BoxError::from)
            .service(client);
        Ok(Transport { stack: BoxCloneSyncService::new(stack) })
    }

    /// Sends a request whose address is a path; gives back the answer as soon as its head is there.
    ///
    /// # Errors
    /// When there is none.
    pub async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, BoxError> {
        self.stack.clone().oneshot(request).await
    }
}
