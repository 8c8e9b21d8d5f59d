"""A certificate authority of a test, and servers that it vouches for."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """Signs certificates; `file` holds its own, for SSL_CERT_FILE."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._key = folder, ec.generate_private_key(ec.SECP256R1())
        self._name = _named("an authority of a test")
        made = _certificate(self._name, self._name, self._key).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self.file = folder / "authority.pem"
        self.file.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def context(self, address: str = "127.0.0.1", *, days: int = 7) -> ssl.SSLContext:
        """What a server at `address` shows; with negative `days` it has expired."""
        key, path = ec.generate_private_key(ec.SECP256R1()), self.folder / f"{address}{days}.pem"
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))])
        made = _certificate(_named(address), self._name, key, days).add_extension(names, critical=False)
        secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
        path.write_bytes(secret + made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _certificate(name: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int = 7) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(issuer).public_key(key.public_key())
    return builder.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(30)).not_valid_after(now + timedelta(days))
