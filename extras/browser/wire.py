"""Chrome's DevTools protocol as messages on a line, local or remote; and sentences for load errors. Pure.

A command has a number, and its answer repeats it; an event has none. Messages of one page have the id of the session
attached to it.

`engine.py` drives a browser through this alone. `holder.py` has a local one on its pipe, `remote.py` a remote one on a
WebSocket.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import msgspec

if TYPE_CHECKING:
    from extras.browser.forward_proxy import ForwardProxy
    from extras.browser.leases import Lease


MOST_MESSAGE: Final = 96 << 20
"""Bytes of one message. The largest readable page, with each `<` as six characters, has fewer."""


class BadMessage(Exception):
    """The input is no message of the protocol; the browser is unusable."""


class Command(NamedTuple):
    """A command to a browser. tag: identifies the answer for the sender, "" if it needs none."""

    method: str
    params: Mapping[str, Any] = {}
    session: str = ""
    tag: str = ""


class BrowserMessage(NamedTuple):
    """A browser's message. number: of the answered command, 0 for an event. failed: the error."""

    number: int
    method: str
    params: Mapping[str, Any]
    session: str
    failed: str = ""


class _Wire(msgspec.Struct):
    id: int = 0
    method: str = ""
    params: dict[str, Any] = {}
    result: dict[str, Any] = {}
    error: dict[str, Any] | None = None
    session_id: str = msgspec.field(default="", name="sessionId")


_DECODER = msgspec.json.Decoder(_Wire)


def packed(number: int, command: Command) -> bytes:
    """Return a command as the text of a message.

    >>> packed(7, Command("Page.enable", {}, "S"))
    b'{"id":7,"method":"Page.enable","params":{},"sessionId":"S"}'
    """
    fields: dict[str, Any] = {"id": number, "method": command.method, "params": command.params}
    if command.session:
        fields["sessionId"] = command.session
    return msgspec.json.encode(fields)


class Pipe:
    """Splits a stream of bytes into messages."""

    def __init__(self, most: int = MOST_MESSAGE) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take bytes as they come, yield each complete text. Raises BadMessage."""
        *whole, rest = data.split(b"\0")
        for part in whole:
            text = b"".join((*self._parts, part))
            self._parts, self._size = [], 0
            yield text
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
        if self._size > self._most:
            raise BadMessage(f"a message of more than {self._most:,} bytes")


def read(text: bytes) -> BrowserMessage:
    """Parse a browser's message. Raises BadMessage."""
    try:
        found = _decoded(text)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise BadMessage(f"{text[:80]!r}: {error}") from None
    if found.error is not None:
        failed = str(found.error.get("message", "it failed"))[:300]
        return BrowserMessage(found.id, found.method, {}, found.session_id, failed)
    return BrowserMessage(found.id, found.method, found.params or found.result, found.session_id)


def _decoded(text: bytes) -> _Wire:
    try:
        return _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # A page may write half a character (a lone surrogate) into its text, its address, its dialogs: strict readers
        # refuse that as JSON, but it is no reason to give up the browser of all other pages.
        return msgspec.convert(json.loads(text), _Wire)


class Door(NamedTuple):
    """A page's way to the proxy. proxy: the URL as the browser reaches it. secret: "" if no stranger can reach it."""

    proxy: str
    secret: str = ""


class Doors(Protocol):
    """The doors of one browser's pages."""

    async def run(self, proxy: ForwardProxy) -> None:
        """Serve all doors, until cancelled."""

    def let(self, lease: Lease) -> AbstractContextManager[Door]:
        """Open a door for one page under a lease; at the end cut all its connections."""


class BrowserTransport(Protocol):
    """A connection to a browser. If broken, its methods raise trio.BrokenResourceError or ClosedResourceError."""

    @property
    def doors(self) -> Doors:
        """The doors of its pages."""

    @property
    def shared(self) -> bool:
        """Whether others may use the browser, too."""

    async def send(self, texts: Sequence[bytes]) -> None:
        """Send whole messages."""

    async def receive(self) -> Sequence[bytes] | None:
        """Wait for bytes; return the complete messages, None at the end. Raises BadMessage."""

    async def last_word(self) -> str:
        """Return why there are no more messages; "" if unknown."""

    async def weigh(self) -> tuple[int, int]:
        """Return the browser's memory in KiB and its processes, (0, 0) if unknown. Raises OSError, NotUp."""

    async def aclose(self) -> None:
        """Close the line; the browser discards our pages with it."""


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
    "CERT_AUTHORITY_INVALID": "the certificate is of an unknown authority",
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
