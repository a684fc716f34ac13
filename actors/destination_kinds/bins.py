"""Webhook bins: addresses of this service that store every request they receive, for a week.

Strangers reach a bin through the front end; this service's own deliveries make no connection, so a bin works even if
the machine can't reach its own public address. The bin gets the request that a receiver would have got; only
credentials in headers are hidden, since a bin shows its requests. Bytes of a body, captures of a bin, and bytes in all
are bounded. At the total bound the fullest bin loses its oldest capture, so no bin can empty another.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from contextlib import suppress

import trio

from actors.destination_kinds.kind import HIDDEN, DeliveryTransport, Poster
from actors.egress.failures import Blame, CheckFailed, PostMethod, PostResult
from actors.egress.headers import delivery_headers, user_agent
from actors.egress.http import POST_TIMEOUT
from actors.egress.traffic import NetworkTransport
from actors.egress.url import Url, parse_url
from actors.errors import Conflict, UrlRefused
from actors.world import World
from storage.errors import STANDSTILL
from storage.records.bin import Bin, Capture
from storage.records.identity import Millis
from storage.sql.storage import Storage

PATH = "/bins/"
BODY = 256 << 10  # stored bytes of a body
MOST_CAPTURES = 100
MOST_BYTES = 64 << 20  # bytes of all captures, unless the newest capture of each bin adds up to more
LIFETIME = Millis(7 * 86_400_000)
MOST_BINS, TOKEN_BYTES = 1_000, 24
HeaderTexts = tuple[tuple[str, str], ...]
Target = tuple[str, str, str]  # method, path and query
NOT_FOUND = "There is no such bin, or it has expired."


class Bins:
    """The bins of one service. All state is in storage."""

    def __init__(self, world: World, storage: Storage, base_url: str) -> None:
        self._world, self._storage, self._base_url = world, storage, base_url
        self._own_url: Url | None = None
        with suppress(UrlRefused):  # a port that no delivery may use, so no URL is ours
            self._own_url = parse_url(base_url, schemes=("http", "https"))
        self._prefix = "" if self._own_url is None else self._own_url.target.rstrip("/")

    # --- addresses ---------------------------------------------------------------------------------------------------

    def address(self, bin: Bin) -> str:
        """Return a bin's URL; paths below it work too."""
        return f"{self._base_url}{PATH}{bin.token}"

    def is_own(self, url: Url) -> bool:
        """Return whether a URL is at this service's public address, by http or https."""
        return self._own_url is not None and (url.host, url.port) == (self._own_url.host, self._own_url.port)

    def path_in(self, url: Url) -> str | None:
        """Return the path and query here of a bin's URL, whether or not the bin exists; else None."""
        is_own = self._own_url is not None and url.origin == self._own_url.origin
        return url.target[len(self._prefix) :] if is_own and url.target.startswith(self._prefix + PATH) else None

    # --- bins --------------------------------------------------------------------------------------------------------

    async def create(self, id: str | None = None) -> Bin:
        """Make a bin; with an id, return the existing one. Raises Conflict at MOST_BINS, StorageError."""
        if id is not None and (existing := await self._storage.bins.get(id)) is not None:
            return existing
        if len(await self._storage.bins.all()) >= MOST_BINS:
            raise Conflict(f"there are {MOST_BINS} bins: delete some, or wait for them to expire")
        now = self._world.now()
        token = urlsafe_b64encode(self._world.entropy(TOKEN_BYTES)).decode()
        bin = Bin(id or self._world.new_id(), token, now, Millis(now + LIFETIME))
        await self._storage.bins.add(bin)
        return bin

    async def find(self, path: str) -> Bin | None:
        """Return the unexpired bin at a path (`/bins/<token>`, or deeper), or None."""
        token = path.removeprefix(PATH).partition("?")[0].partition("/")[0] if path.startswith(PATH) else ""
        return self.if_alive(await self._storage.bins.by_token(token)) if token else None

    def if_alive(self, bin: Bin | None) -> Bin | None:
        return bin if bin is not None and self._world.now() < bin.expires_at else None

    async def capture(
        self, bin: Bin, target: Target, headers: HeaderTexts, body: bytes, *, size: int, whole: bool
    ) -> bool:
        """Store a request; return whether its bin still exists. `whole`: see Capture. Raises DiskFull, Unavailable."""
        capture = Capture(self._world.new_id(), self._world.now(), *target, headers, body, size, truncated=not whole)
        return await self._storage.bins.capture(bin.id, capture, keep=MOST_CAPTURES, room=MOST_BYTES)


# Headers of the delivery itself, not required by a receiver.
_OWN_HEADERS = frozenset(("host", "user-agent", "content-type", "content-length", "accept-encoding", "traceparent"))


def delivery_transport(egress: NetworkTransport, bins: Bins, contact: str) -> DeliveryTransport:
    """Return the transport whose posts to bins stay here. `contact` as in the setting."""
    agent = user_agent(contact)
    deliver, deliver_plain = (_LoopbackPoster(bins, agent, it) for it in (egress.deliver, egress.deliver_plain))
    return DeliveryTransport(deliver, deliver_plain, egress.dial, egress.dial_plain, egress.last_address)


class _LoopbackPoster:
    """A Poster that posts to bins here, and elsewhere through `poster`."""

    def __init__(self, bins: Bins, agent: str, poster: Poster) -> None:
        self._bins, self._agent, self._poster = bins, agent.encode(), poster

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes, method: PostMethod = "POST") -> PostResult:
        """POST a body; see Poster. A bin answers 200, or 404 when it is gone."""
        path = self._bins.path_in(url)
        if path is None:
            return await self._poster.post(url, headers, body, method)
        start = trio.current_time()
        try:
            with trio.fail_after(POST_TIMEOUT):
                status = await self._capture(url, path, headers, body, method)
        except (*STANDSTILL, trio.TooSlowError) as error:
            raise CheckFailed(Blame.LOCAL, f"the bin could not be written: {error}") from None
        body_text = b"" if status == 200 else NOT_FOUND.encode()
        return PostResult(status, round((trio.current_time() - start) * 1000), body_text, None)

    async def _capture(self, url: Url, path: str, headers: Mapping[str, str], body: bytes, method: PostMethod) -> int:
        bin = await self._bins.find(path)
        if bin is None:
            return 404
        raw = [(b"Host", url.authority.encode()), (b"User-Agent", self._agent), *delivery_headers(headers, len(body))]
        pairs = ((name.decode().lower(), value.decode("latin-1")) for name, value in raw)
        shown = tuple(
            (name, value if name in _OWN_HEADERS or name.startswith("webhook-") else HIDDEN) for name, value in pairs
        )
        path, _, query = path.partition("?")
        target, size = (method, path, query), len(body)
        found = await self._bins.capture(bin, target, shown, body[:BODY], size=size, whole=size <= BODY)
        return 200 if found else 404
