"""The machines that names stand for, as they were last met. Pure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

MOST = 20_000
"""Names remembered at most; the least lately met is forgotten first."""


class AddressCache:
    """One address of each name, always the same of several."""

    def __init__(self) -> None:
        self._addresses: OrderedDict[str, str] = OrderedDict()

    def __repr__(self) -> str:
        return f"<AddressCache of {len(self._addresses)} names>"

    def met(self, host: str, addresses: Sequence[str]) -> None:
        """Take note of a name's addresses."""
        self._addresses[host] = min(addresses)
        self._addresses.move_to_end(host)
        if len(self._addresses) > MOST:
            self._addresses.popitem(last=False)

    def of(self, host: str) -> str:
        """Return a name's address, the name itself when it was never met."""
        return self._addresses.get(host, host)
