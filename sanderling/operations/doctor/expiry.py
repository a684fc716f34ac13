"""Read a certificate's end from its DER (X.690, RFC 5280 section 4.1); the standard library has no public way."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime

_CONSTRUCTED_VERSION = 0xA0
_UTC_TIME = 0x17
_VALIDITY = 3
"""Index of the validity among a TBSCertificate's fields after its version: serial, algorithm, issuer, validity."""


def ends_at(pem: str) -> datetime:
    """Return the end of the first certificate in a PEM text. Raises ValueError without one."""
    begin, end = pem.find("-----BEGIN CERTIFICATE-----"), pem.find("-----END CERTIFICATE-----")
    if not 0 <= begin < end:
        raise ValueError("there is no certificate in it")
    der = ssl.PEM_cert_to_DER_cert(pem[begin : end + 25])
    _, certificate = next(_fields(der))
    _, body = next(_fields(certificate))
    fields = [field for field in _fields(body) if field[0] != _CONSTRUCTED_VERSION]
    if len(fields) <= _VALIDITY:
        raise ValueError("it is not a certificate")
    _, (tag, text) = _fields(fields[_VALIDITY][1])
    digits = text.decode("ascii")
    if tag == _UTC_TIME:  # two-digit year: 50 and up mean 19xx (RFC 5280 section 4.1.2.5.1)
        digits = ("19" if digits[:2] >= "50" else "20") + digits
    return datetime.strptime(digits, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and content of consecutive values. Raises ValueError if one is cut short."""
    at = 0
    while at < len(data):
        tag, length, at = data[at], data[at + 1] if at + 1 < len(data) else 0, at + 2
        if length & 0x80:
            count = length & 0x7F
            length, at = int.from_bytes(data[at : at + count], "big"), at + count
        if at + length > len(data):
            raise ValueError("it is cut short")
        yield tag, data[at : at + length]
        at += length
