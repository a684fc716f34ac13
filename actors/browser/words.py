"""Sentences for a browser's load errors. Pure."""

from __future__ import annotations

from typing import Final

_WORDS: Final = {
    "ABORTED": "the page broke off its own loading",
    "ADDRESS_UNREACHABLE": "the host can't be reached",
    "CONNECTION_CLOSED": "the connection was closed",
    "CONNECTION_REFUSED": "the connection was refused",
    "CONNECTION_RESET": "the connection was reset",
    "CONNECTION_TIMED_OUT": "the host did not answer",
    "CONTENT_DECODING_FAILED": "the body is not packed as it says",
    "CONTENT_LENGTH_MISMATCH": "the answer is shorter than it says",
    "EMPTY_RESPONSE": "the host closed the connection without an answer",
    "HTTP2_PROTOCOL_ERROR": "the answer breaks HTTP/2",
    "INCOMPLETE_CHUNKED_ENCODING": "the answer broke off",
    "INVALID_AUTH_CREDENTIALS": "the host wants a password",
    "INVALID_RESPONSE": "the answer breaks HTTP",
    "NAME_NOT_RESOLVED": "the name does not resolve",
    "SSL_PROTOCOL_ERROR": "TLS failed",
    "SSL_VERSION_OR_CIPHER_MISMATCH": "the host speaks no TLS that a browser speaks",
    "TIMED_OUT": "the host did not answer in time",
    "TOO_MANY_REDIRECTS": "it redirects in a circle",
    "TUNNEL_CONNECTION_FAILED": "the proxy could not connect to the host",
    "UNSAFE_PORT": "browsers do not ask at that port",
    "UNKNOWN_URL_SCHEME": "it leads to an address that is not of the web",
    "CERT_AUTHORITY_INVALID": "the certificate is of an authority that nobody knows",
    "CERT_COMMON_NAME_INVALID": "the certificate is for another host",
    "CERT_DATE_INVALID": "the certificate is out of date",
}


def in_words(code: str) -> str:
    """Return a network error of the browser as a phrase.

    >>> in_words("net::ERR_CERT_DATE_INVALID"), in_words("net::ERR_ODD_THING")
    ('the certificate is out of date (ERR_CERT_DATE_INVALID)', 'ERR_ODD_THING')
    """
    name = code.removeprefix("net::")[:60]
    words = _WORDS.get(name.removeprefix("ERR_"))
    return f"{words} ({name})" if words else name or "it failed without a word"


def agent_of(own: str, ours: str) -> str:
    """Return a page view's User-Agent: the browser's own, marked as headless, and our name.

    >>> agent_of("Mozilla/5.0 (X11) Chrome/156.0 Safari/537.36", "sanderling/1 (+https://a.example)")
    'Mozilla/5.0 (X11) HeadlessChrome/156.0 Safari/537.36 sanderling/1 (+https://a.example)'
    """
    honest = own if "HeadlessChrome/" in own else own.replace("Chrome/", "HeadlessChrome/")
    return f"{honest} {ours}".strip()
