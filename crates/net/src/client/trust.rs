//! TLS of clients: how a server is verified.

use super::{ClientError, Trust};
use crate::certificates::{self, CertificateError, Role};
use crate::edge::ALPN;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, TransportConfig, VarInt};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A connection without packets for so long is given up.
const IDLE: Duration = Duration::from_secs(10);

/// Bytes of unsent datagrams: a newer input replaces an older one.
const SEND_BUFFER: usize = 8 << 10;

fn wrong(place: &Path, why: &dyn Display) -> ClientError {
    ClientError::Certificate { place: place.display().to_string(), why: why.to_string() }
}

/// The QUIC configuration.
pub(super) fn configuration(trust: &Trust) -> Result<ClientConfig, ClientError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let unusable = |error: &dyn Display| wrong(Path::new("memory"), error);
    let builder = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| unusable(&error))?;
    let mut config = match trust {
        Trust::Anyone => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anyone(provider)))
            .with_no_client_auth(),
        Trust::Ca(file) => builder.with_root_certificates(authorities(file)?).with_no_client_auth(),
        Trust::Node(directory) => {
            let unreadable = |error: CertificateError| wrong(directory, &error);
            let chain = certificates::chain(directory, Role::Node).map_err(unreadable)?;
            let key = certificates::key(directory, Role::Node).map_err(unreadable)?;
            let roots = certificates::roots(directory, Role::Server).map_err(unreadable)?;
            builder
                .with_root_certificates(roots)
                .with_client_auth_cert(chain, key)
                .map_err(|error| wrong(directory, &error))?
        }
    };
    config.alpn_protocols = vec![ALPN.to_vec()];
    let crypto = QuicClientConfig::try_from(config).map_err(|error| unusable(&error))?;
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(Arc::new(transport()));
    Ok(config)
}

fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    let idle = VarInt::from_u32(IDLE.as_millis() as u32);
    transport
        .max_idle_timeout(Some(idle.into()))
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(8))
        .datagram_send_buffer_size(SEND_BUFFER);
    transport
}

fn authorities(pem: &Path) -> Result<RootCertStore, ClientError> {
    let mut roots = RootCertStore::empty();
    let all = CertificateDer::pem_file_iter(pem).map_err(|error| wrong(pem, &error))?;
    for authority in all {
        let authority = authority.map_err(|error| wrong(pem, &error))?;
        roots.add(authority).map_err(|error| wrong(pem, &error))?;
    }
    if roots.is_empty() { Err(wrong(pem, &"there is no certificate in it")) } else { Ok(roots) }
}

/// Accepts any certificate; the handshake still proves that the server has its key.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
