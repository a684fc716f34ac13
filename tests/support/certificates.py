"""Certificates, made with openssl at run time."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from sanderling.environment import environ

NAME = "localhost"
needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None and environ().get("CI") != "true", reason="the openssl command is not installed"
)


def make_certificate(folder: Path, common_name: str = NAME, *, password: str = "") -> tuple[Path, Path]:
    """Write a self-signed certificate for localhost and its key into a folder; return the two paths."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    sealing = ["-passout", f"pass:{password}"] if password else ["-nodes"]
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-days", "2"),
            *("-subj", f"/CN={common_name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate), *sealing),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


def trusting(*certificates: Path, alpn: tuple[str, ...] = ("h2", "http/1.1")) -> ssl.SSLContext:
    """Return a client context that trusts only these certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for certificate in certificates:
        context.load_verify_locations(certificate)
    context.set_alpn_protocols(alpn)
    return context
