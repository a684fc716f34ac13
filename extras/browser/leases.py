"""A rendered page's share of the forward proxy: its remaining requests and bytes, and their outcomes.

A page is untrusted code: it may make a thousand requests, for a gigabyte, to any port of any host. A lease counts
requests and bytes, and at either limit all further ones are refused. Pure.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import Final, Literal, NamedTuple

from actors.egress.address import is_public
from actors.errors import UrlRefused

WEB_PORTS: Final = frozenset({80, 443})
MOST_TROUBLES: Final = 200  # hosts whose trouble is remembered, the first ones of a page
MOST_STREAMS: Final = 128
"""Connections of one page at once. A browser opens 32 through a proxy, and more only for WebSockets."""

USER: Final = "sanderling"  # the user name that goes with a page's secret, if a gate asks for one

Cause = Literal["refused", "remote", "local"]


class Trouble(NamedTuple):
    """Why a request did not get through the proxy. cause: the fault, as in RenderFailed."""

    cause: Cause
    reason: str


class Lease:
    """A page's share of the proxy. marker: distinguishes our own answers. ports: besides 80 and 443. host: its own."""

    def __init__(
        self, *, most_requests: int, most_bytes: int, marker: str, ports: Collection[int] = (), host: str = ""
    ) -> None:
        self.marker, self._host = marker, host
        self._inside: frozenset[str] | None = None
        """The first addresses of the own host, if all are in opened networks; None before the first request."""
        self._most_requests, self._most_bytes = most_requests, most_bytes
        self._ports = WEB_PORTS | frozenset(ports)
        self._troubles: OrderedDict[tuple[str, int], Trouble] = OrderedDict()
        self.requests = self.wire_bytes = self.refused = 0
        self.streams = 0

    def __repr__(self) -> str:
        return f"<Lease {self.requests} requests, {self.wire_bytes} bytes, {self.refused} refused, {self.streams} open>"

    @property
    def spent(self) -> str:
        """The reached limit, as a sentence; "" below both."""
        if self.wire_bytes >= self._most_bytes:
            return f"the page asked for more than {self._most_bytes:,} bytes"
        if self.requests >= self._most_requests:
            return f"the page asked for more than {self._most_requests:,} times"
        return ""

    @property
    def out_of_bytes(self) -> bool:
        return self.wire_bytes >= self._most_bytes

    def admit(self, host: str, port: int) -> Trouble | None:
        """Count a request; return why it is refused, None if it may be tried."""
        if self.spent:
            return self.note(host, port, Trouble("refused", self.spent))
        self.requests += 1
        if port not in self._ports:
            reason = f"port {port} of {host}: a page may ask at 80, 443 and its own port only (setting browser_ports)"
            return self.note(host, port, Trouble("refused", reason))
        return None

    def judge(self, host: str, addresses: Sequence[str]) -> None:
        """Raise UrlRefused unless the page may reach a host: public ones, and its own if that is internal. The first
        addresses of the own host stay its own until it has a public one. Otherwise a name that moves inside would let a
        stranger's page act there.
        """
        inside = frozenset(address for address in addresses if not is_public(address))
        if host == self._host and (self._inside is None or len(inside) < len(addresses)):
            self._inside = inside if len(inside) == len(addresses) else frozenset()
        if not inside <= (self._inside or frozenset()):
            detail = f"{host} is not public: a page reaches public addresses and its own host"
            raise UrlRefused("address-inside", detail)

    def note(self, host: str, port: int, trouble: Trouble) -> Trouble:
        self.refused += trouble.cause == "refused"
        if (host, port) in self._troubles or len(self._troubles) < MOST_TROUBLES:
            self._troubles[host, port] = trouble
        return trouble

    def count(self, size: int) -> None:
        self.wire_bytes += size

    def trouble(self, host: str, port: int) -> Trouble | None:
        return self._troubles.get((host, port))
