"""Bytes of answers that clients have asked for and do not read: bounded for one key, one address, and for all.

Live streams and exports hold a bounded piece each, and are counted by number (`api/streams.py`). Every other answer is
made whole before its head leaves, so its size is known, and it is refused while too much of the same asker waits.
Strangers have a room of their own: they can't take that of who has a key or has signed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, NamedTuple

from api.problems import Refusal
from api.ratelimit import neighbourhood

ASKER = "sanderling.asker"
SMALL = 4 << 10
"""Bytes of an answer that is never refused: who must wait has to be told so."""


class Room(NamedTuple):
    """Bytes that may wait for one asker, and for all of its kind."""

    own: int
    most: int


KNOWN, STRANGERS = Room(8 << 20, 40 << 20), Room(2 << 20, 16 << 20)


class Asker(NamedTuple):
    """Whose answer it is. name: of the key or session, "" for a stranger's; address: as requests are counted by it."""

    name: str
    address: str


def note(scope: Any, name: str, address: str) -> None:
    """Leave in a request's ASGI scope whose it is."""
    scope[ASKER] = Asker(name, _counted_as(address))


def asker_of(scope: Mapping[str, Any]) -> Asker:
    """Return whose a request is; where nobody has said so, the connection's address."""
    found = scope.get(ASKER)
    return found if isinstance(found, Asker) else Asker("", _counted_as((scope.get("client") or ("", 0))[0]))


def _counted_as(address: str) -> str:
    """Return the name of an address; "" for this machine's own, which is that of all who come through a proxy on it."""
    try:
        mine = ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        mine = False
    return "" if mine else neighbourhood(address)


class Unsent:
    """What waits, by asker."""

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()

    def __repr__(self) -> str:
        return f"<Unsent {self.total} bytes of {len(self._waiting)} names>"

    @property
    def total(self) -> int:
        """How many bytes wait in all."""
        return self._waiting["known"] + self._waiting["strangers"]

    def take(self, asker: Asker, size: int) -> Place:
        """Count an answer of so many bytes, until its place is left. Raises Refusal (503)."""
        kind, room = ("known", KNOWN) if asker.name else ("strangers", STRANGERS)
        mine = [f"{kind} {each}" for each in asker if each]
        if size > SMALL:
            if any(self._waiting[name] + size > room.own for name in mine if self._waiting[name]):
                raise _refusal("Answers that you have asked for wait to be read; read them first.")
            if self._waiting[kind] + size > room.most:
                raise _refusal("Too many answers wait for clients that read slowly.")
        place = Place(self._waiting, (kind, *mine), size)
        for name in place.names:
            self._waiting[name] += size
        return place


class Place:
    """Bytes that are counted; `leave` counts them no more, once."""

    __slots__ = ("_size", "_waiting", "names")

    def __init__(self, waiting: Counter[str], names: tuple[str, ...], size: int) -> None:
        self._waiting, self.names, self._size = waiting, names, size

    def leave(self) -> None:
        """Count them no more."""
        size, self._size = self._size, 0
        for name in self.names:
            self._waiting[name] -= size
            if not self._waiting[name]:
                del self._waiting[name]


def _refusal(says: str) -> Refusal:
    return Refusal("unavailable", says, headers={"Retry-After": "5"})
