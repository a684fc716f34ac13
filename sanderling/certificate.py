"""The service's own TLS: certificate and key from files that may change at runtime.

Renewal writes the two files at different moments. A mismatched or unreadable pair is reported once and the old one
stays in use; each later change is tried again. Open connections keep their certificate.
"""

from __future__ import annotations

import ssl
from pathlib import Path

import trio

from actors.world import Renewal

ALPN = ("http/1.1",)
Stamp = tuple[tuple[int, int, int] | None, ...]


class CertificateUnusable(Exception):
    """The files are no usable pair; the message explains why."""


class CertificateFiles:
    """A PEM certificate chain and its private key. Raises CertificateUnusable on construction."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self._paths = certificate, key
        self._seen = self._stamp()
        self._context = self._load()

    def wrap(self, stream: trio.abc.Stream) -> trio.abc.Stream:
        """Wrap the server side in TLS with the newest good certificate. The handshake comes later."""
        return trio.SSLStream(stream, self._context, server_side=True, https_compatible=True)

    def refresh(self) -> Renewal | None:
        """Reload the files if they changed and return the outcome; None if unchanged."""
        stamp = self._stamp()
        if stamp == self._seen:
            return None
        self._seen = stamp
        try:
            self._context = self._load()
        except CertificateUnusable as error:
            return Renewal(False, f"{error} The old certificate stays in use.")
        return Renewal(True, f"{self._paths[0]} is in use for new connections.")

    def _stamp(self) -> Stamp:
        return tuple(_stamp_of(path) for path in self._paths)

    def _load(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.set_alpn_protocols(ALPN)
        certificate, key = self._paths
        for path in self._paths:
            _check_readable(path)
        try:
            context.load_cert_chain(certificate, key, password=_no_password)
        except ssl.SSLError as error:
            if error.reason == "KEY_VALUES_MISMATCH":
                raise CertificateUnusable(f"{key} is not the key of {certificate}.") from None
            why = f" ({error.reason.replace('_', ' ').lower()})" if error.reason else ""
            raise CertificateUnusable(
                f"{certificate} and {key} must hold a certificate chain and its private key in PEM{why}."
            ) from None
        except _Encrypted:
            raise CertificateUnusable(f"{key} is encrypted: there is nobody to ask for its password.") from None
        return context


class _Encrypted(Exception):
    """The key asks for a password."""


def _no_password() -> str:
    raise _Encrypted


def _check_readable(path: Path) -> None:
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise CertificateUnusable(f"{path} can't be read: {error.strerror or error}.") from None


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    """Return a stamp that changes when the file is written or replaced, even behind a link; None if it is missing."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
