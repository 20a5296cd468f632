//! TLS: the gateway's certificate, which the command line pins.

use std::path::Path;
use std::sync::Arc;

use countersign_core::digest::Digest;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme,
};
use tokio_rustls::TlsAcceptor;

use crate::complaint::Complaint;

/// The gateway's certificate.
pub(crate) struct Identity {
    /// Takes connections.
    pub(crate) acceptor: TlsAcceptor,
    /// SHA-256 of the certificate, 64 hexadecimal digits.
    pub(crate) fingerprint: String,
}

/// Reads what the gateway proves itself with from two PEM files.
pub(crate) fn identity(certificate: &Path, key: &Path) -> Result<Identity, Complaint> {
    let unusable = |option: &str, file: &Path, why: String, hint: &str| {
        Complaint::usage(format!("`{option} {}`: {why}", file.display()), hint)
    };
    let of_chain = |error: pem::Error| {
        let hint = "give a PEM file with the gateway's certificate first and its chain below";
        unusable("--tls-cert", certificate, said(&error, "certificate"), hint)
    };
    let of_key = |error: pem::Error| {
        let hint = "give the certificate's private key as PEM, without a password";
        unusable("--tls-key", key, said(&error, "private key"), hint)
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(of_chain)?;
    let Some(own) = chain.first() else {
        return Err(of_chain(pem::Error::NoItemsFound));
    };
    let fingerprint = fingerprint(own);
    let private = PrivateKeyDer::from_pem_file(key).map_err(of_key)?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder
                .with_no_client_auth()
                .with_single_cert(chain, private)
        });
    let mut config = config.map_err(|error| {
        if matches!(error, rustls::Error::InconsistentKeys(_)) {
            let why = format!(
                "it is not the key of the certificate in {}",
                certificate.display()
            );
            return unusable(
                "--tls-key",
                key,
                why,
                "give a certificate and key that belong together",
            );
        }
        let hint = "is it a server certificate, and is the key RSA, ECDSA or Ed25519?";
        let why = format!("it cannot be used: {error}");
        unusable("--tls-cert", certificate, why, hint)
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Identity {
        acceptor: TlsAcceptor::from(Arc::new(config)),
        fingerprint,
    })
}

/// Returns what a client needs that trusts the one certificate of this fingerprint and no other,
/// whatever name is on it and whoever vouches for it. The home it was read from is the proof.
pub(crate) fn trusting(fingerprint: &str) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = OneCertificate {
        fingerprint: fingerprint.to_owned(),
        provider: Arc::clone(&provider),
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(config)
}

fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    Digest::of(certificate.as_ref()).hex()
}

fn said(error: &pem::Error, wanted: &str) -> String {
    if let pem::Error::Io(error) = error {
        format!("cannot be read: {error}")
    } else if matches!(error, pem::Error::NoItemsFound) {
        format!("there is no {wanted} in it")
    } else {
        format!("it is not PEM: {error}")
    }
}

#[derive(Debug)]
struct OneCertificate {
    fingerprint: String,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for OneCertificate {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if fingerprint(end_entity) == self.fingerprint {
            return Ok(ServerCertVerified::assertion());
        }
        Err(CertificateError::UnknownIssuer.into())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}
