"""The outlet of an attempt that is traced: each of its requests names the span that it is (W3C Trace Context)."""

from __future__ import annotations

from collections.abc import Mapping

from actors.destination_kinds.kind import Outlet, Poster
from actors.egress.posted import PostMethod, PostResult
from actors.egress.url import Url

HEADER = "traceparent"


class TracedOutlet:
    """An Outlet before another one."""

    def __init__(self, outlet: Outlet, traceparent: str) -> None:
        self.deliver: Poster = _TracedPoster(outlet.deliver, traceparent)
        self.deliver_plain: Poster = _TracedPoster(outlet.deliver_plain, traceparent)
        self.dial, self.dial_plain = outlet.dial, outlet.dial_plain
        self._outlet = outlet

    def whereabouts(self, host: str) -> str:
        """Return the address that a host was last delivered to, or the host itself."""
        return self._outlet.whereabouts(host)


class _TracedPoster:
    def __init__(self, poster: Poster, traceparent: str) -> None:
        self._poster, self._traceparent = poster, traceparent

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes, method: PostMethod = "POST") -> PostResult:
        """POST a body; see Poster. A header that the receiver's owner has set stays as it is."""
        if not any(name.lower() == HEADER for name in headers):
            headers = {**headers, HEADER: self._traceparent}
        return await self._poster.post(url, headers, body, method)
