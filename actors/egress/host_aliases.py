"""Two names of one machine: `site` and `www.site`, when they share an address. Pure.

Two names alone prove nothing (`www.` may be another company's machine, and one may be dead while the other lives), and
neither does an address alone (a thousand unrelated sites share one). Both together do.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

MOST = 20_000
"""Most names; the least recently seen is forgotten first, and is then a separate host."""
_PREFIX = "www."


class HostAliases:
    """The addresses of names as last seen, and which of them are twins."""

    def __init__(self) -> None:
        self._addresses: OrderedDict[str, frozenset[str]] = OrderedDict()
        self._shared: set[str] = set()

    def __repr__(self) -> str:
        return f"<HostAliases {len(self._shared)} pairs among {len(self._addresses)} names>"

    def met(self, host: str, addresses: Sequence[str]) -> str | None:
        """Record a name's addresses. Return the name that has just turned out to be another's twin."""
        self._addresses[host] = found = frozenset(addresses)
        self._addresses.move_to_end(host)
        bare = host.removeprefix(_PREFIX)
        twin = bare if host != bare else _PREFIX + bare
        theirs, were = self._addresses.get(twin), bare in self._shared
        if theirs is not None and not found.isdisjoint(theirs):
            self._shared.add(bare)
        else:
            self._shared.discard(bare)
        if len(self._addresses) > MOST:
            gone, _ = self._addresses.popitem(last=False)
            self._shared.discard(gone.removeprefix(_PREFIX))
        return _PREFIX + bare if bare in self._shared and not were else None

    def one(self, host: str) -> str:
        """Return the name that a host is known under: its own, or without a `www.` that makes no difference."""
        bare = host.removeprefix(_PREFIX)
        return bare if bare in self._shared else host
