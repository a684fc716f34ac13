"""A line to a browser, local or remote: whole messages both ways, and the doors of its pages. Pure.

`engine.py` drives a browser through this alone. `held.py` is a local one on its pipe, `remote.py` a remote one on a
WebSocket.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from actors.egress.forward_proxy import ForwardProxy
    from actors.egress.leases import Lease


class Door(NamedTuple):
    """A page's way to the guarded proxy. proxy: its URL, as the browser reaches it. secret: the password, "" if no
    stranger can reach it.
    """

    proxy: str
    secret: str = ""


class Doors(Protocol):
    """The doors of one browser's pages."""

    async def run(self, proxy: ForwardProxy) -> None:
        """Serve all doors, until cancelled."""

    def let(self, lease: Lease) -> AbstractContextManager[Door]:
        """Open a door for one page under a lease; at the end cut all its connections."""


class Line(Protocol):
    """A connection to a browser. If broken, its methods raise trio.BrokenResourceError or ClosedResourceError."""

    @property
    def doors(self) -> Doors:
        """The doors of its pages."""

    @property
    def shared(self) -> bool:
        """Whether others may use the browser, too."""

    async def send(self, texts: Sequence[bytes]) -> None:
        """Send whole messages."""

    async def receive(self) -> Sequence[bytes] | None:
        """Wait for bytes; return the complete messages, None at the end. Raises BadMessage."""

    async def last_word(self) -> str:
        """Return why there are no more messages; "" if unknown."""

    async def weigh(self) -> tuple[int, int]:
        """Return the browser's memory in KiB and the number of its processes, (0, 0) if unknown.

        Raises OSError, NotUp when it is gone.
        """

    async def aclose(self) -> None:
        """Close the line; the browser discards our pages with it."""
