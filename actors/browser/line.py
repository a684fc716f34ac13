"""A line to a browser, on this machine or elsewhere: whole messages both ways, and the doors of its pages. Pure.

What drives a browser (`engine.py`) knows nothing else of it. `held.py` is one on this machine, on its pipe; `remote.py`
one elsewhere, on a WebSocket.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from actors.egress.forward_proxy import ForwardProxy
    from actors.egress.leases import Lease


class Door(NamedTuple):
    """A page's way to the guarded proxy. proxy: its URL, as the browser reaches it. secret: what opens it, "" where
    nobody else can come to it.
    """

    proxy: str
    secret: str = ""


class Doors(Protocol):
    """The doors of one browser's pages."""

    async def run(self, proxy: ForwardProxy) -> None:
        """Serve whoever comes to a door, until cancelled."""

    def let(self, lease: Lease) -> AbstractContextManager[Door]:
        """Open a door for one page, whose traffic is on a lease; at the end all its connections are cut."""


class Line(Protocol):
    """A browser that can be talked to. Broken, its methods raise trio.BrokenResourceError or ClosedResourceError."""

    @property
    def doors(self) -> Doors:
        """The doors of its pages."""

    @property
    def shared(self) -> bool:
        """Whether others may use the browser, too."""

    async def send(self, texts: Sequence[bytes]) -> None:
        """Send whole messages."""

    async def receive(self) -> Sequence[bytes] | None:
        """Wait for bytes; return the messages that are whole now, None when there will be none. Raises BadMessage."""

    async def last_word(self) -> str:
        """Return why there are no more messages; "" when nobody knows."""

    async def weigh(self) -> tuple[int, int]:
        """Return the browser's memory in KiB and the number of its processes, (0, 0) when that can't be known.

        Raises OSError, NotUp when it is gone.
        """

    async def aclose(self) -> None:
        """Have done with the browser; what it holds for us goes with the line."""
