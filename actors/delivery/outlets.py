"""Outlets of deliveries: to this service's own bins without a connection.

The bin gets the request that a receiver would have got, and answers as it answers strangers, so it shows what would
have been sent. Only credentials in headers are hidden, since a bin shows its requests. No socket, name or certificate
is involved, so a bin works even if the machine can't reach its own public address.
"""

from __future__ import annotations

from collections.abc import Mapping

import trio

from actors.destination_kinds.bins import BODY, GONE, ArrivedRequest, Bins
from actors.destination_kinds.kind import Outlet, Poster
from actors.destination_kinds.values import HIDDEN
from actors.egress.failures import Blame, LookFailed, PostMethod, PostResult
from actors.egress.headers import delivery_headers, user_agent
from actors.egress.http import POST_TIMEOUT
from actors.egress.url import Url
from storage.errors import STANDSTILL

_OURS = frozenset(("host", "user-agent", "content-type", "content-length", "accept-encoding", "traceparent"))


def _is_ours(name: str) -> bool:
    """Return whether a header is the delivery's own, not one that a receiver requires."""
    return name in _OURS or name.startswith("webhook-")


class LoopbackOutlet:
    """Wraps another Outlet. `contact` as in the setting."""

    def __init__(self, outlet: Outlet, bins: Bins, contact: str) -> None:
        agent = user_agent(contact)
        self.deliver: Poster = _LoopbackConnect(bins, agent, outlet.deliver)
        self.deliver_plain: Poster = _LoopbackConnect(bins, agent, outlet.deliver_plain)
        self.dial, self.dial_plain = outlet.dial, outlet.dial_plain
        self._outlet = outlet

    def whereabouts(self, host: str) -> str:
        return self._outlet.whereabouts(host)


class _LoopbackConnect:
    """A Poster that posts to bins here, and elsewhere through `out`."""

    def __init__(self, bins: Bins, agent: str, out: Poster) -> None:
        self._bins, self._agent, self._out = bins, agent.encode(), out

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes, method: PostMethod = "POST") -> PostResult:
        """POST a body; see Poster. A bin answers 200, or 404 when it is gone."""
        path = self._bins.path_in(url)
        if path is None:
            return await self._out.post(url, headers, body, method)
        start = trio.current_time()
        try:
            with trio.fail_after(POST_TIMEOUT):
                status = await self._hand_over(url, path, headers, body, method)
        except (*STANDSTILL, trio.TooSlowError) as error:
            raise LookFailed(Blame.LOCAL, f"the bin could not be written: {error}") from None
        says = b"" if status == 200 else GONE.encode()
        return PostResult(status, round((trio.current_time() - start) * 1000), says, None)

    async def _hand_over(self, url: Url, path: str, headers: Mapping[str, str], body: bytes, method: PostMethod) -> int:
        bin = await self._bins.at(path)
        if bin is None:
            return 404
        raw = [(b"Host", url.authority.encode()), (b"User-Agent", self._agent), *delivery_headers(headers, len(body))]
        pairs = ((name.decode().lower(), value.decode("latin-1")) for name, value in raw)
        named = tuple((name, value if _is_ours(name) else HIDDEN) for name, value in pairs)
        place, _, query = path.partition("?")
        arrived = ArrivedRequest(method, place, query, named, body[:BODY], len(body), whole=len(body) <= BODY)
        return 200 if await self._bins.keep(bin, arrived) else 404
