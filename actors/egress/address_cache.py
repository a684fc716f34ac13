"""The last known addresses of names. Pure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

MOST = 20_000
"""Most names; the least recently used goes first."""


class AddressCache:
    """One address for each name, always the same of several."""

    def __init__(self) -> None:
        self._addresses: OrderedDict[str, str] = OrderedDict()

    def __repr__(self) -> str:
        return f"<AddressCache of {len(self._addresses)} names>"

    def met(self, host: str, addresses: Sequence[str]) -> None:
        """Record a name's addresses."""
        self._addresses[host] = min(addresses)
        self._addresses.move_to_end(host)
        if len(self._addresses) > MOST:
            self._addresses.popitem(last=False)

    def of(self, host: str) -> str:
        """Return a name's address, or the name itself if unknown."""
        return self._addresses.get(host, host)
