"""A rendered page's share of the forward proxy: what it may still ask for, and what became of what it asked.

A page is a stranger's program: it may ask a thousand times, for a gigabyte, at any port of any host. A lease counts
requests and bytes, and when one of them is used up nothing more is let out. Pure.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import Final, Literal, NamedTuple

from actors.egress.address import is_public
from actors.errors import UrlRefused

WEB_PORTS: Final = frozenset({80, 443})
MOST_TROUBLES: Final = 200
"""Hosts whose trouble is remembered; of a page that asks more, the first ones count."""
MOST_STREAMS: Final = 128
"""Connections of one page at once. A browser opens 32 through a proxy, and more for WebSockets only."""

USER: Final = "sanderling"
"""Whose password a page's secret is, where a gate asks for one."""

Cause = Literal["refused", "remote", "local"]


class Trouble(NamedTuple):
    """Why the proxy did not let a request through, or could not. cause: whose fault, as RenderFailed has it."""

    cause: Cause
    reason: str


class Lease:
    """One page's share of the proxy. marker: a word that no page knows, which tells our own answers from a host's.

    ports: that may be asked besides 80 and 443. host: the page's own.
    """

    def __init__(
        self, *, most_requests: int, most_bytes: int, marker: str, ports: Collection[int] = (), host: str = ""
    ) -> None:
        self.marker, self._host = marker, host
        self._inside: frozenset[str] | None = None
        """The addresses that the own host had first, if all are in opened networks; None before it was asked."""
        self._most_requests, self._most_bytes = most_requests, most_bytes
        self._ports = WEB_PORTS | frozenset(ports)
        self._troubles: OrderedDict[tuple[str, int], Trouble] = OrderedDict()
        self.requests = self.wire_bytes = self.refused = 0
        self.streams = 0

    def __repr__(self) -> str:
        return f"<Lease {self.requests} requests, {self.wire_bytes} bytes, {self.refused} refused, {self.streams} open>"

    @property
    def spent(self) -> str:
        """Which limit is reached, in words; "" while there is room."""
        if self.wire_bytes >= self._most_bytes:
            return f"the page asked for more than {self._most_bytes:,} bytes"
        if self.requests >= self._most_requests:
            return f"the page asked for more than {self._most_requests:,} times"
        return ""

    @property
    def out_of_bytes(self) -> bool:
        """Whether what is under way must be cut, too."""
        return self.wire_bytes >= self._most_bytes

    def admit(self, host: str, port: int) -> Trouble | None:
        """Count a request; return why it must not go out, None when it may be tried."""
        if self.spent:
            return self.note(host, port, Trouble("refused", self.spent))
        self.requests += 1
        if port not in self._ports:
            reason = f"port {port} of {host}: a page may ask at 80, 443 and its own port only (setting browser_ports)"
            return self.note(host, port, Trouble("refused", reason))
        return None

    def judge(self, host: str, addresses: Sequence[str]) -> None:
        """Raise UrlRefused unless the page may reach a host: public ones, and its own where that is not.

        The addresses that the own host has first stay its own, until it has a public one, as a name that moves inside
        would have a stranger's page act there.
        """
        inside = frozenset(address for address in addresses if not is_public(address))
        if host == self._host and (self._inside is None or len(inside) < len(addresses)):
            self._inside = inside if len(inside) == len(addresses) else frozenset()
        if not inside <= (self._inside or frozenset()):
            detail = f"{host} is not public: a page reaches public addresses and its own host"
            raise UrlRefused("address-inside", detail)

    def note(self, host: str, port: int, trouble: Trouble) -> Trouble:
        """Remember what became of a request to a host; return it."""
        self.refused += trouble.cause == "refused"
        if (host, port) in self._troubles or len(self._troubles) < MOST_TROUBLES:
            self._troubles[host, port] = trouble
        return trouble

    def count(self, size: int) -> None:
        """Count bytes of the wire, of both directions."""
        self.wire_bytes += size

    def trouble(self, host: str, port: int) -> Trouble | None:
        """Return what last became of a request to a host that did not get through."""
        return self._troubles.get((host, port))
