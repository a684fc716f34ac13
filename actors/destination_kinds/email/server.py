"""The operator's mail server, and mail addresses. Pure."""

from __future__ import annotations

import re
from email.errors import MessageError
from email.headerregistry import Address
from typing import Final, Literal, NamedTuple

import idna

from actors.egress.url import read_host
from actors.errors import UrlRefused

Security = Literal["tls", "starttls", "none"]
_SERVER: Final = re.compile(r"(smtps|smtp|smtp\+plain)://([^/:@\s]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?/?")
_SECURITY: Final[dict[str, tuple[Security, int]]] = {
    "smtps": ("tls", 465),
    "smtp": ("starttls", 587),
    "smtp+plain": ("none", 25),
}
LONGEST_ADDRESS: Final = 254
"""Octets of an address (RFC 5321, 4.5.3.1.3, less the angle brackets)."""
LONGEST_LOCAL: Final = 64
MAILTO: Final = "mailto:"


class MailServer(NamedTuple):
    """The mail server. sender: the From address."""

    host: str
    port: int
    security: Security
    sender: str


def server_of(address: str, sender: str) -> MailServer | None:
    """Return the server from the settings, None without one. Raises ValueError.

    >>> server_of("smtps://mail.example.com", "watch@example.com")
    MailServer(host='mail.example.com', port=465, security='tls', sender='watch@example.com')
    """
    if not address:
        return None
    found = _SERVER.fullmatch(address)
    if found is None:
        raise ValueError(
            "write smtps://host, smtp://host (STARTTLS) or smtp+plain://host, with a port if it is another"
        )
    security, port = _SECURITY[found[1]]
    try:
        host = read_host(found[2])
        recipient = recipient_of(sender)
    except UrlRefused as error:
        raise ValueError(f"{error.detail}" if sender else "mail_from is needed with it") from None
    number = int(found[3] or port)
    if not 0 < number < 65536:
        raise ValueError("the port is from 1 to 65535")
    return MailServer(host, number, security, recipient)


def recipient_of(text: str) -> str:
    """Return a normalized address, the domain in ASCII. Raises UrlRefused.

    >>> recipient_of("mailto:Anna@Bücher.example")
    'Anna@xn--bcher-kva.example'
    """
    given = text[len(MAILTO) :] if text[: len(MAILTO)].lower() == MAILTO else text
    try:
        address = Address(addr_spec=given)
        domain = idna.encode(address.domain, uts46=True).decode()
    except (ValueError, IndexError, AttributeError, MessageError, idna.IDNAError):
        raise _bad() from None
    local = address.username
    if not local.isprintable() or any(letter in local for letter in ' "<>()[],;:\\%?&#') or "." not in domain:
        raise _bad()
    found = f"{local}@{domain.lower()}"
    if len(local.encode()) > LONGEST_LOCAL or len(found.encode()) > LONGEST_ADDRESS:
        raise _bad()
    return found


def domain_of(address: str) -> str:
    return address.rpartition("@")[2]


def _bad() -> UrlRefused:
    return UrlRefused("url-mail", "this is no address for mail; an example: anna@example.com")
