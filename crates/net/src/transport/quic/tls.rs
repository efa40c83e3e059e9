//! Identities on the QUIC transport. All processes have a certificate of the same authority: that
//! of the certificate directory, or one whose key is derived from the token, so that only those who
//! know the token can sign for a node.

use crate::certificates::{self, Role};
use crate::transport::{TransportAuth, TransportError};
use quinn::Connection;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use rustls::RootCertStore;
use rustls::crypto::{CryptoProvider, ring as provider};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use std::sync::Arc;
use std::time::Duration;

/// The application protocol inside TLS.
const PROTOCOL: &[u8] = b"jostle-plane/1";
/// The prefix of an Ed25519 key in PKCS 8 (RFC 8410); 32 bytes follow.
const ED25519: &[u8] = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

pub(super) struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    roots: Arc<RootCertStore>,
}

impl Identity {
    pub(super) fn new(guard: &TransportAuth, world: &str) -> Result<Identity, TransportError> {
        if let Some(directory) = &guard.certificates {
            return Ok(Identity {
                chain: certificates::chain(directory, Role::Node)?,
                key: certificates::key(directory, Role::Node)?,
                roots: Arc::new(certificates::roots(directory, Role::Node)?),
            });
        }
        let token = guard.token.as_ref().map_or("", |token| token.reveal());
        let token = hmac::Key::new(hmac::HMAC_SHA256, token.as_bytes());
        let seed = hmac::sign(&token, format!("jostle authority of {world}").as_bytes());
        let key = PrivatePkcs8KeyDer::from([ED25519, seed.as_ref()].concat());
        let key = rcgen::KeyPair::from_pkcs8_der_and_sign_algo(&key, &rcgen::PKCS_ED25519)
            .map_err(super::failed("make a key of its token"))?;
        let (authority, issuer) = certificates::sign_authority(key)?;
        let (certificate, key) = certificates::sign_role(Role::Node, &[], &issuer)?;
        let mut roots = RootCertStore::empty();
        roots.add(authority.der().clone()).map_err(super::failed("trust its authority"))?;
        Ok(Identity {
            chain: vec![certificate.der().clone()],
            key: PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            roots: Arc::new(roots),
        })
    }

    pub(super) fn server(&self) -> Result<quinn::ServerConfig, TransportError> {
        let verifier = WebPkiClientVerifier::builder_with_provider(self.roots.clone(), crypto())
            .build()
            .map_err(super::failed("use its authority"))?;
        let mut config = rustls::ServerConfig::builder_with_provider(crypto())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(super::failed("use TLS 1.3"))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(self.chain.clone(), self.key.clone_key())
            .map_err(super::failed("use its certificate"))?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        let config = QuicServerConfig::try_from(config).map_err(super::failed("use QUIC"))?;
        let mut config = quinn::ServerConfig::with_crypto(Arc::new(config));
        config.transport_config(transport());
        Ok(config)
    }

    pub(super) fn client(&self) -> Result<quinn::ClientConfig, TransportError> {
        let mut config = rustls::ClientConfig::builder_with_provider(crypto())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(super::failed("use TLS 1.3"))?
            .with_root_certificates(self.roots.clone())
            .with_client_auth_cert(self.chain.clone(), self.key.clone_key())
            .map_err(super::failed("use its certificate"))?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        let config = QuicClientConfig::try_from(config).map_err(super::failed("use QUIC"))?;
        let mut config = quinn::ClientConfig::new(Arc::new(config));
        config.transport_config(transport());
        Ok(config)
    }
}

/// Returns true if the certificate of the peer names a node.
pub(super) fn is_node(connection: &Connection) -> bool {
    let chain = connection.peer_identity();
    let chain = chain.and_then(|any| any.downcast::<Vec<CertificateDer<'static>>>().ok());
    let Some(first) = chain.as_ref().and_then(|chain| chain.first()) else { return false };
    let Ok(name) = ServerName::try_from(Role::Node.name()) else { return false };
    ParsedCertificate::try_from(first)
        .is_ok_and(|first| rustls::client::verify_server_name(&first, &name).is_ok())
}

pub(super) fn random() -> Result<u64, TransportError> {
    let mut bytes = [0; 8];
    let drawn = SystemRandom::new().fill(&mut bytes);
    drawn.map_err(super::failed("draw a random number"))?;
    Ok(u64::from_le_bytes(bytes))
}

fn crypto() -> Arc<CryptoProvider> {
    Arc::new(provider::default_provider())
}

/// A peer without packets for a second is gone, as with zenoh.
fn transport() -> Arc<quinn::TransportConfig> {
    let mut transport = quinn::TransportConfig::default();
    transport.max_idle_timeout(Some(quinn::VarInt::from_u32(1000).into()));
    transport.keep_alive_interval(Some(Duration::from_millis(250)));
    // One for control messages and one for each priority.
    transport.max_concurrent_uni_streams(4_u8.into());
    transport.max_concurrent_bidi_streams(0_u8.into());
    Arc::new(transport)
}
