//! A client that keeps connections open as the API server's does.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, HOST};
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The versions of HTTP that the API server may speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Http {
    One,
    Two,
}

enum Sender {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

/// One connection.
pub(crate) struct Connection {
    sender: Sender,
    /// What the server showed.
    pub(crate) certificate: CertificateDer<'static>,
}

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Takes any certificate: the tests look at it themselves.
#[derive(Debug)]
struct Any;

impl ServerCertVerifier for Any {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        m: &[u8],
        c: &CertificateDer<'_>,
        s: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(m, c, s, &default_provider().signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        m: &[u8],
        c: &CertificateDer<'_>,
        s: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(m, c, s, &default_provider().signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// A client's side of TLS; with `identity`, it shows that certificate.
pub(crate) fn tls(
    http: Http,
    version: &'static rustls::SupportedProtocolVersion,
    identity: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
) -> Arc<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Any));
    let mut config = match identity {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).unwrap(),
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = match http {
        Http::One => vec![b"http/1.1".to_vec()],
        Http::Two => vec![b"h2".to_vec()],
    };
    Arc::new(config)
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr, http: Http) -> Result<Self, Failure> {
        Connection::open_with(address, http, tls(http, &rustls::version::TLS13, None)).await
    }

    pub(crate) async fn open_with(
        address: SocketAddr,
        http: Http,
        tls: Arc<ClientConfig>,
    ) -> Result<Self, Failure> {
        let tcp = TcpStream::connect(address).await?;
        tcp.set_nodelay(true)?;
        let stream = TlsConnector::from(tls).connect(ServerName::try_from("localhost")?, tcp).await?;
        let certificate = stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned();
        let io = TokioIo::new(stream);
        let sender = match http {
            Http::One => {
                let (sender, connection) = http1::handshake(io).await?;
                tokio::spawn(connection);
                Sender::One(sender)
            }
            Http::Two => {
                let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await?;
                tokio::spawn(connection);
                Sender::Two(sender)
            }
        };
        Ok(Connection { sender, certificate })
    }

    /// Whether the server has not closed it, as far as is known here. Go's client looks, too, before it
    /// takes a connection out of its pool.
    pub(crate) async fn is_open(&mut self) -> bool {
        // Lets what the server said by now be read.
        tokio::task::yield_now().await;
        match &mut self.sender {
            Sender::One(sender) => sender.ready().await.is_ok(),
            Sender::Two(sender) => sender.ready().await.is_ok(),
        }
    }

    /// Sends a body; gives back code, body, and whether the server wants the connection closed.
    pub(crate) async fn post(
        &mut self,
        path: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes, bool), Failure> {
        let uri = match self.sender {
            Sender::One(_) => path.to_owned(),
            Sender::Two(_) => format!("https://localhost{path}"),
        };
        let request = Request::post(uri).header(HOST, "localhost").header(CONTENT_TYPE, "application/json");
        let request = request.body(Full::new(body))?;
        let response = match &mut self.sender {
            Sender::One(sender) => sender.send_request(request).await?,
            Sender::Two(sender) => sender.send_request(request).await?,
        };
        let closes = response.headers().get(CONNECTION).is_some_and(|v| v == "close");
        let code = response.status();
        Ok((code, response.into_body().collect().await?.to_bytes(), closes))
    }
}

/// Keeps one connection, and opens another when the server closes it.
pub(crate) struct Pool {
    pub(crate) address: SocketAddr,
    pub(crate) http: Http,
    pub(crate) open: Option<Connection>,
}

impl Pool {
    pub(crate) fn new(address: SocketAddr, http: Http) -> Self {
        Pool { address, http, open: None }
    }

    pub(crate) async fn post(&mut self, path: &str, body: Bytes) -> Result<(StatusCode, Bytes), Failure> {
        match self.try_post(path, body.clone()).await {
            Err(error) if is_unread(&*error) => {
                self.open = None;
                self.try_post(path, body).await
            }
            done => done,
        }
    }

    async fn try_post(&mut self, path: &str, body: Bytes) -> Result<(StatusCode, Bytes), Failure> {
        let usable = match &mut self.open {
            Some(connection) => connection.is_open().await,
            None => false,
        };
        if !usable {
            self.open = Some(Connection::open(self.address, self.http).await?);
        }
        let connection = self.open.as_mut().expect("it was just opened");
        let (code, body, closes) = connection.post(path, body).await?;
        if closes {
            self.open = None;
        }
        Ok((code, body))
    }
}

/// Whether no server has read the request: the connection closed before it was sent, or the server
/// said over HTTP/2 that it did not look at it. Go's client sends such a request again by itself.
fn is_unread(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_canceled)
        || format!("{error:?}").contains("GoAway(b\"\", NO_ERROR, Remote)")
}
