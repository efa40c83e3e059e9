//! TLS of the edge server: its certificate, and which client certificates it accepts.

use super::{EdgeError, PeerIdentity};
use crate::certificates::{self, CertificateError, Role};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The application protocol over QUIC.
pub(crate) const ALPN: &[u8] = b"jostle/1";

/// The common name in certificates of nodes.
const NODE: &str = "node";

/// TLS configurations of the two listeners.
pub(super) struct Tls {
    pub(super) quic: Arc<rustls::ServerConfig>,
    /// `None`: plain HTTP.
    pub(super) web: Option<Arc<rustls::ServerConfig>>,
}

struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    /// Authorities that sign certificates of nodes.
    authorities: Option<Arc<RootCertStore>>,
}

fn wrong(place: &Path, why: &dyn Display) -> EdgeError {
    EdgeError::Certificate { place: place.display().to_string(), why: why.to_string() }
}

impl Tls {
    /// From a directory of certificates, or with a self-signed one.
    pub(super) fn new(directory: Option<&Path>) -> Result<Tls, EdgeError> {
        let place = directory.unwrap_or(Path::new("memory"));
        let identity = match directory {
            Some(directory) => read(directory)?,
            None => made_up().map_err(|error| wrong(place, &error))?,
        };
        let encrypted_web = identity.authorities.is_some();
        let configure = |protocol: &[u8]| {
            configuration(&identity, protocol).map_err(|error| wrong(place, &error))
        };
        let web = if encrypted_web { Some(configure(b"http/1.1")?) } else { None };
        Ok(Tls { quic: configure(ALPN)?, web })
    }
}

fn configuration(
    identity: &Identity,
    protocol: &[u8],
) -> Result<Arc<rustls::ServerConfig>, Box<dyn std::error::Error>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?;
    let builder = match &identity.authorities {
        // Nodes present a certificate, clients need not.
        Some(roots) => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(roots.clone(), provider)
                .allow_unauthenticated()
                .build()?,
        ),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder.with_single_cert(identity.chain.clone(), identity.key.clone_key())?;
    config.alpn_protocols = vec![protocol.to_vec()];
    Ok(Arc::new(config))
}

fn read(directory: &Path) -> Result<Identity, EdgeError> {
    let wrong = |error: CertificateError| wrong(directory, &error);
    Ok(Identity {
        chain: certificates::chain(directory, Role::Server).map_err(wrong)?,
        key: certificates::key(directory, Role::Server).map_err(wrong)?,
        authorities: Some(Arc::new(certificates::roots(directory, Role::Node).map_err(wrong)?)),
    })
}

fn made_up() -> Result<Identity, rcgen::Error> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_string()])?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    Ok(Identity { chain: vec![made.cert.der().clone()], key: key.into(), authorities: None })
}

/// The identity in the verified certificate of a peer.
pub(super) fn identity(connection: &quinn::Connection) -> PeerIdentity {
    let identity = connection.peer_identity();
    let chain = identity.and_then(|any| any.downcast::<Vec<CertificateDer<'static>>>().ok());
    let name = chain.and_then(|chain| common_name(chain.first()?));
    if name.as_deref() == Some(NODE) {
        PeerIdentity::NodeCertificate
    } else {
        PeerIdentity::Anonymous
    }
}

fn common_name(certificate: &CertificateDer<'_>) -> Option<String> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let name = certificate.subject().iter_common_name().next()?.as_str().ok()?;
    Some(name.to_string())
}
