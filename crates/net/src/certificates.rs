//! Certificates: private authorities, and what they sign for nodes, edge servers and clients.
//!
//! A directory holds for each [`Role`] a certificate and its key, and two authorities: `ca.pem`
//! signs for edge servers and clients, `nodes.pem` for nodes, so that a client cannot complete a
//! TLS handshake on the transport between nodes. Keys are readable by their owner only. To add
//! machines, copy the directory without `ca.key` and `nodes.key`, which only [`make`] needs.

use ring::digest;
use rustls::RootCertStore;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// Who presents a certificate: it is identified by the common name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A node.
    Node,
    /// An edge server. Its files are named `edge`, as in version 1.
    Server,
    /// A client, towards a server that requires a certificate.
    Client,
}

impl Role {
    /// All roles.
    pub const ALL: [Role; 3] = [Role::Node, Role::Server, Role::Client];

    /// The common name in the certificate, and the name of its files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Role::Node => "node",
            Role::Server => "door",
            Role::Client => "client",
        }
    }

    /// The path of its certificate.
    #[must_use]
    pub fn certificate(self, directory: &Path) -> PathBuf {
        directory.join(self.name()).with_extension("pem")
    }

    /// The path of its key.
    #[must_use]
    pub fn key(self, directory: &Path) -> PathBuf {
        directory.join(self.name()).with_extension("key")
    }
}

/// The path of the certificate of the authority that signs for a role.
#[must_use]
pub fn authority(directory: &Path, role: Role) -> PathBuf {
    match role {
        Role::Node => directory.join("nodes.pem"),
        Role::Server | Role::Client => directory.join("ca.pem"),
    }
}

/// Why certificates cannot be read or made.
#[derive(Debug, Error)]
pub enum CertificateError {
    /// A file or directory cannot be read or written.
    #[error("{path}: {reason} (`jostle serve --tls DIR` makes the certificates)")]
    File {
        /// The path.
        path: PathBuf,
        /// The reason given by the system.
        reason: std::io::Error,
    },
    /// A file does not contain what its name says.
    #[error("{path} holds no {expected} in PEM: {reason}")]
    Content {
        /// The path.
        path: PathBuf,
        /// What it should contain.
        expected: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// One file of a pair is missing: a new one would not match.
    #[error("{present} is there but {missing} is not: restore it, or remove both")]
    HalfAPair {
        /// The file that is there.
        present: PathBuf,
        /// The missing file.
        missing: PathBuf,
    },
    /// There are certificates of an authority that is missing.
    #[error(
        "{path} was signed by an authority that is not there: restore {authority} and its key, or \
         remove {path}"
    )]
    Orphan {
        /// Such a certificate.
        path: PathBuf,
        /// Where the authority should be.
        authority: PathBuf,
    },
    /// A certificate could not be made, for instance because a host name is malformed.
    #[error("cannot make the certificate of {name}: {reason}")]
    Make {
        /// Whose certificate.
        name: &'static str,
        /// What is wrong.
        reason: rcgen::Error,
    },
}

/// Makes missing certificates in a directory, and the directory. Existing files are kept.
///
/// `names` are host names and addresses of edge servers; `localhost` and the loopback addresses are
/// added.
///
/// # Errors
/// If a file cannot be read or written, if half of a pair is missing, or if a name is
/// malformed.
pub fn make(directory: &Path, names: &[String]) -> Result<(), CertificateError> {
    std::fs::create_dir_all(directory).map_err(|reason| file(directory, reason))?;
    make_roles(directory, names, &[Role::Node])?;
    make_roles(directory, names, &[Role::Server, Role::Client])
}

/// Makes missing certificates for roles of the same authority.
fn make_roles(directory: &Path, names: &[String], roles: &[Role]) -> Result<(), CertificateError> {
    let mut issuer = None;
    for &role in roles {
        if both(&role.certificate(directory), &role.key(directory))? {
            continue;
        }
        let issuer = match &issuer {
            Some(issuer) => issuer,
            None => issuer.insert(issuer_of(directory, roles, role)?),
        };
        let (certificate, key) = sign_role(role, names, issuer)?;
        write_key(&role.key(directory), &key.serialize_pem())?;
        write(&role.certificate(directory), &certificate.pem())?;
    }
    Ok(())
}

/// The authority of a role; a new one if there is none and nothing was signed by one.
fn issuer_of(directory: &Path, roles: &[Role], role: Role) -> Result<Issuer, CertificateError> {
    let authority = authority(directory, role);
    let key = authority.with_extension("key");
    if both(&authority, &key)? {
        return read_issuer(&authority, &key);
    }
    let signed = roles.iter().map(|role| role.certificate(directory)).find(|path| path.exists());
    match signed {
        Some(path) => Err(CertificateError::Orphan { path, authority }),
        None => make_authority(&authority, &key),
    }
}

/// Returns whether both files of a pair exist; an error if only one does.
fn both(certificate: &Path, key: &Path) -> Result<bool, CertificateError> {
    let half = |present: &Path, missing: &Path| CertificateError::HalfAPair {
        present: present.to_owned(),
        missing: missing.to_owned(),
    };
    match (certificate.exists(), key.exists()) {
        (true, true) => Ok(true),
        (false, false) => Ok(false),
        (true, false) => Err(half(certificate, key)),
        (false, true) => Err(half(key, certificate)),
    }
}

/// Signs certificates.
pub(crate) type Issuer = rcgen::Issuer<'static, rcgen::KeyPair>;

fn read_issuer(certificate: &Path, key: &Path) -> Result<Issuer, CertificateError> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|reason| file(path, reason));
    let content = |path: &Path, expected| {
        let path = path.to_owned();
        move |reason: rcgen::Error| CertificateError::Content {
            path,
            expected,
            reason: reason.to_string(),
        }
    };
    let pair = rcgen::KeyPair::from_pem(&read(key)?).map_err(content(key, "private key"))?;
    rcgen::Issuer::from_ca_cert_pem(&read(certificate)?, pair)
        .map_err(content(certificate, "certificate of an authority"))
}

fn make_authority(path: &Path, key_path: &Path) -> Result<Issuer, CertificateError> {
    let key = rcgen::KeyPair::generate().map_err(failed("the authority"))?;
    write_key(key_path, &key.serialize_pem())?;
    let (certificate, issuer) = sign_authority(key)?;
    write(path, &certificate.pem())?;
    Ok(issuer)
}

/// A self-signed authority with this key.
pub(crate) fn sign_authority(
    key: rcgen::KeyPair,
) -> Result<(rcgen::Certificate, Issuer), CertificateError> {
    let mut params = rcgen::CertificateParams::default();
    params.distinguished_name = common_name("jostle authority");
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Constrained(0));
    params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign, rcgen::KeyUsagePurpose::CrlSign];
    set_validity(&mut params);
    let certificate = params.self_signed(&key).map_err(failed("the authority"))?;
    Ok((certificate, rcgen::Issuer::new(params, key)))
}

/// Signs a new certificate for a role.
pub(crate) fn sign_role(
    role: Role,
    names: &[String],
    issuer: &Issuer,
) -> Result<(rcgen::Certificate, rcgen::KeyPair), CertificateError> {
    use rcgen::ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};
    let (names, usages) = match role {
        // Addresses of nodes change, so nodes are verified by their role and not by a host name.
        Role::Node => (vec![role.name().to_owned()], vec![ServerAuth, ClientAuth]),
        Role::Server => {
            let own = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
            (names.iter().cloned().chain(own).collect(), vec![ServerAuth])
        }
        Role::Client => (vec![role.name().to_owned()], vec![ClientAuth]),
    };
    let mut params = rcgen::CertificateParams::new(names).map_err(failed(role.name()))?;
    params.distinguished_name = common_name(role.name());
    params.key_usages = vec![rcgen::KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = usages;
    params.use_authority_key_identifier_extension = true;
    set_validity(&mut params);
    let key = rcgen::KeyPair::generate().map_err(failed(role.name()))?;
    let certificate = params.signed_by(&key, issuer).map_err(failed(role.name()))?;
    Ok((certificate, key))
}

fn failed(name: &'static str) -> impl Fn(rcgen::Error) -> CertificateError {
    move |reason| CertificateError::Make { name, reason }
}

fn common_name(name: &str) -> rcgen::DistinguishedName {
    let mut distinguished = rcgen::DistinguishedName::new();
    distinguished.push(rcgen::DnType::CommonName, name);
    distinguished
}

/// From the start of last year, because clocks differ, until at least ten years from now.
fn set_validity(params: &mut rcgen::CertificateParams) {
    const SECONDS_OF_A_YEAR: u64 = 31_556_952;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let year = 1970 + i32::try_from(now / SECONDS_OF_A_YEAR).unwrap_or(0);
    params.not_before = rcgen::date_time_ymd(year - 1, 1, 1);
    params.not_after = rcgen::date_time_ymd(year + 11, 1, 1);
}

/// The certificate chain of a role, for rustls.
///
/// # Errors
/// If the file is missing or holds no certificate.
pub fn chain(
    directory: &Path,
    role: Role,
) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    certificates_in(&role.certificate(directory))
}

/// The key of a role, for rustls.
///
/// # Errors
/// If the file is missing or holds no key.
pub fn key(directory: &Path, role: Role) -> Result<PrivateKeyDer<'static>, CertificateError> {
    let path = role.key(directory);
    PrivateKeyDer::from_pem_file(&path).map_err(|reason| pem(&path, "private key", reason))
}

/// A root store with the authority of a role only, for rustls.
///
/// # Errors
/// If the file is missing or is not the certificate of an authority.
pub fn roots(directory: &Path, role: Role) -> Result<RootCertStore, CertificateError> {
    let path = authority(directory, role);
    let mut roots = RootCertStore::empty();
    for certificate in certificates_in(&path)? {
        roots.add(certificate).map_err(|reason| CertificateError::Content {
            path: path.clone(),
            expected: "certificate of an authority",
            reason: reason.to_string(),
        })?;
    }
    Ok(roots)
}

/// The SHA-256 of the first certificate in a file, in hexadecimal.
///
/// # Errors
/// If the file is missing or holds no certificate.
pub fn fingerprint(pem: &Path) -> Result<String, CertificateError> {
    let certificates = certificates_in(pem)?;
    let first = certificates.first().map_or(&[][..], AsRef::as_ref);
    Ok(hexadecimal(digest::digest(&digest::SHA256, first).as_ref()))
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn certificates_in(path: &Path) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let failed = |reason| pem(path, "certificate", reason);
    let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(|certificates| certificates.collect())
        .map_err(failed)?;
    if certificates.is_empty() { Err(failed(PemError::NoItemsFound)) } else { Ok(certificates) }
}

fn file(path: &Path, reason: std::io::Error) -> CertificateError {
    CertificateError::File { path: path.to_owned(), reason }
}

fn pem(path: &Path, expected: &'static str, reason: PemError) -> CertificateError {
    match reason {
        PemError::Io(reason) => file(path, reason),
        other => {
            CertificateError::Content { path: path.to_owned(), expected, reason: other.to_string() }
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), CertificateError> {
    std::fs::write(path, text).map_err(|reason| file(path, reason))
}

/// Created with its final mode, so it is never readable by others.
fn write_key(path: &Path, text: &str) -> Result<(), CertificateError> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)
        .and_then(|mut opened| opened.write_all(text.as_bytes()))
        .map_err(|reason| file(path, reason))
}
