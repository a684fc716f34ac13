"""A bare domain from a caller: a public name without scheme, port or path. Pure.

The value becomes the host of a URL, so anything that two parsers might read differently is refused here, with a hint.
Its resolution is the guard's business.
"""

from __future__ import annotations

import unicodedata

import idna

from actors.egress.hostname import read_host
from actors.errors import UrlRefused

_TOGETHER = frozenset(("LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"))
"""Scripts allowed together in one word (UTS 39, 5.2, highly restrictive)."""


class NoDomain(ValueError):
    """Not a bare domain; the message is a sentence without its subject."""


def read_domain(text: str) -> str:
    """Return a domain in normal form: ASCII (IDNA 2008), lower case, no dot at the end. Raises NoDomain.

    >>> read_domain("Bücher.Example.")
    'xn--bcher-kva.example'
    """
    _check_characters(text)
    try:
        name = read_host(text)
    except UrlRefused as refusal:
        if refusal.rule == "url-host-spelling":
            raise NoDomain(_ADDRESS) from None
        raise NoDomain(f"is no domain: {refusal.detail}") from None
    if name.rpartition(".")[2].isdigit():
        raise NoDomain(_ADDRESS)
    if "." not in name:
        raise NoDomain("is a single label: write the whole domain, such as example.com")
    for label in name.split("."):
        _check_script(label)
    return name


_ADDRESS = "is an IP address: write a domain, such as example.com"


def _check_characters(text: str) -> None:
    if not text.strip():
        raise NoDomain("is empty: write a domain, such as example.com")
    if any(character.isspace() or not character.isprintable() for character in text):
        raise NoDomain("has a space or an invisible character")
    scheme, there, _ = text.partition("://")
    if there:
        raise NoDomain(f"has a scheme: leave {scheme[:10]}:// away, as in example.com")
    if "@" in text:
        raise NoDomain("has a user name: write the bare domain, as in example.com")
    if text.startswith("[") or text.count(":") > 1:
        raise NoDomain(_ADDRESS)
    if any(sign in text for sign in "/\\?#"):
        raise NoDomain("has a path: write the bare domain, as in example.com")
    if ":" in text:
        raise NoDomain("has a port: write the bare domain, as in example.com")
    if "*" in text:
        raise NoDomain("has a wildcard: name each domain by itself")


def _check_script(label: str) -> None:
    """Refuse a label that may imitate another name by mixing scripts."""
    if not label.startswith("xn--"):
        return
    shown = idna.decode(label)
    scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in shown if unicodedata.category(letter)[0] == "L"}
    if len(scripts) > 1 and not scripts <= _TOGETHER:
        raise NoDomain(f"mixes letters of different scripts ({', '.join(sorted(scripts))}) in {shown!r}")
