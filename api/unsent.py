"""The bytes of answers that clients have not read yet: bounded per key, per address and in total.

An answer stays in memory until its client has read it or `send_timeout` passes. Each counts from its head to its last
byte. If there is no room, a 503 goes out instead. A client that reads its answers never gets near the limit. Live
streams are not counted: `max_streams` bounds their number, and `api/streams/streams.py` bounds the part of the log they
hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Self

from werkzeug.datastructures import Headers

from api.peers import Network, caller, is_trusted
from api.problems import MEDIA, Refusal, later
from api.ratelimit import counted_as

OF_ONE = 16 << 20  # bytes for one key, for one address, and for all callers without a key together
ALL = 48 << 20  # bytes for everyone together
SMALL = 16 << 10  # bytes of an answer that other clients' unread answers never block, such as health checks
BESIDE = 4 << 10  # bytes that an answer counts in addition to its body: its head, and the waiting task
OPENED = "sanderling.opened"  # the ASGI scope entry with the key (or session) and reader of a stream that a view opened
ADDRESS = "sanderling.address"  # the ASGI scope entry with the client's address, as trusted proxies name it
ASKER = "sanderling.asker"  # the ASGI scope entry with the name of the request's key or session
_STRANGERS = "strangers"
_ABOUT_BODY = (b"etag", b"last-modified", b"link", b"location", b"set-cookie", b"vary", b"cache-control")
_READS = ("GET", "HEAD", "OPTIONS")
Message = dict[str, Any]


class Asker(NamedTuple):
    """The caller of an answer. key: name of the key or session, "" for strangers; address: "" if not counted."""

    key: str
    address: str

    @property
    def own(self) -> Sequence[str]:
        return [f"{kind} {name}" for kind, name in zip(("key", "address"), self, strict=True) if name]


class Unsent:
    """The unread bytes, by caller."""

    def __init__(self) -> None:
        self._of: Counter[str] = Counter()
        self.total = 0

    def check(self, asker: Asker) -> None:
        """Refuse a caller that has no room for any answer, before any work. Raises Refusal."""
        if any(self._of[name] + BESIDE > OF_ONE for name in asker.own):
            raise _full("You have", OF_ONE)

    def take(self, asker: Asker, size: int) -> None:
        """Count an answer with a body of this size. Raises Refusal if there is no room."""
        if any(self._of[name] + size + BESIDE > OF_ONE for name in asker.own):
            raise _full("You have", OF_ONE)
        if size > SMALL and not asker.key and self._of[_STRANGERS] + size > OF_ONE:
            raise _full("Those without a key have", OF_ONE)
        if size > SMALL and self.total + size > ALL:
            raise _full("All clients together have", ALL)
        self.owe(asker, size)

    def owe(self, asker: Asker, size: int) -> None:
        """Count an answer that must go out because its call has taken effect."""
        self._count(asker, size + BESIDE)

    def free(self, asker: Asker, size: int) -> None:
        self._count(asker, -size - BESIDE)

    def _count(self, asker: Asker, size: int) -> None:
        for name in (*asker.own, *(() if asker.key else (_STRANGERS,))):
            self._of[name] += size
            if not self._of[name]:
                del self._of[name]
        self.total += size

    def __repr__(self) -> str:
        return f"<Unsent {self.total >> 10} KiB of {len(self._of)} askers>"


class Outgoing:
    """One answer on its way to `send`, counted within the `with` block. Without room, a 503 replaces it."""

    __slots__ = ("_address", "_base_url", "_held", "_refused", "_scope", "_send", "_unsent")

    def __init__(
        self,
        unsent: Unsent,
        proxies: Sequence[Network],
        base_url: str,
        scope: Message,
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        self._unsent, self._base_url, self._scope, self._send = unsent, base_url, scope, send
        self._held: tuple[Asker, int] | None = None
        self._refused: tuple[Message, Refusal] | None = None
        peer = (scope.get("client") or ("", 0))[0]
        if is_trusted(peer, proxies):
            named = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
            peer = caller(peer, Headers(named), proxies)
        self._address = counted_as(peer, proxies)

    def __enter__(self) -> Self:
        """Raises Refusal if the address has no room at all, before any work."""
        self._unsent.check(Asker("", self._address))
        return self

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            try:
                self._take(message)
            except Refusal as refusal:
                self._refused = message, refusal
        if self._refused is None:
            await self._send(message)

    async def settle(self) -> None:
        """Send the refusal for a dropped answer, after that answer has been freed."""
        if self._refused is not None:
            head, refusal = self._refused
            body = refusal.encode(self._base_url, self._scope.get("path"))
            await self._send({**head, "status": refusal.status, "headers": _instead(head, refusal, body)})
            await self._send({"type": "http.response.body", "body": body, "more_body": False})

    def _take(self, head: Message) -> None:
        method = self._scope.get("method", "")
        lengths = (int(value) for name, value in head["headers"] if name.lower() == b"content-length")
        size = 0 if method == "HEAD" else next(lengths, 0)
        asker = Asker(self._scope.get(ASKER, ""), self._address)
        if method in _READS and head["status"] < 400:
            self._unsent.take(asker, size)
        else:
            self._unsent.owe(asker, size)
        self._held = asker, size

    def __exit__(self, *exc: object) -> None:
        if self._held is not None:
            self._unsent.free(*self._held)


def _instead(head: Message, refusal: Refusal, body: bytes) -> list[tuple[bytes, bytes]]:
    others = [pair for pair in head["headers"] if not pair[0].lower().startswith(b"content-")]
    kept = [pair for pair in others if pair[0].lower() not in _ABOUT_BODY]
    about = {"content-type": MEDIA, "content-length": str(len(body)), "cache-control": "no-store", **refusal.headers}
    return [*kept, *((name.lower().encode(), value.encode()) for name, value in about.items())]


def _full(who: str, most: int) -> Refusal:
    detail = f"{who} {most >> 20} MiB of answers that were not read. Read them, or ask for less at once."
    return later("unavailable", detail, 5)
