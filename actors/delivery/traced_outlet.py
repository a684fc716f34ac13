"""The outlet of a traced attempt: its requests carry the attempt's span (W3C Trace Context)."""

from __future__ import annotations

from collections.abc import Mapping

from actors.destination_kinds.kind import Outlet, Poster
from actors.egress.posted import PostMethod, PostResult
from actors.egress.url import Url

HEADER = "traceparent"


class TracedOutlet:
    """Wraps another Outlet."""

    def __init__(self, outlet: Outlet, traceparent: str) -> None:
        self.deliver: Poster = _TracedPoster(outlet.deliver, traceparent)
        self.deliver_plain: Poster = _TracedPoster(outlet.deliver_plain, traceparent)
        self.dial, self.dial_plain = outlet.dial, outlet.dial_plain
        self._outlet = outlet

    def whereabouts(self, host: str) -> str:
        return self._outlet.whereabouts(host)


class _TracedPoster:
    def __init__(self, poster: Poster, traceparent: str) -> None:
        self._poster, self._traceparent = poster, traceparent

    async def post(self, url: Url, headers: Mapping[str, str], body: bytes, method: PostMethod = "POST") -> PostResult:
        """POST a body; see Poster. A header set by the receiver's owner stays."""
        if not any(name.lower() == HEADER for name in headers):
            headers = {**headers, HEADER: self._traceparent}
        return await self._poster.post(url, headers, body, method)
