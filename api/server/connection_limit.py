"""The limit of open connections."""

from __future__ import annotations

from api.address_limit import AddressLimit


class LimitReached(Exception):
    """The limit is reached. The message is a sentence for the client."""


class ConnectionLimit:
    """At most `most` connections in total, and per address as many as `guests` allows."""

    def __init__(self, most: int, guests: AddressLimit) -> None:
        self._most, self._taken, self._guests = most, 0, guests

    def take(self, address: str) -> str:
        """Take a slot; return the name to `free` it with. Raises LimitReached."""
        if self._taken >= self._most:
            raise LimitReached("Too many connections are open.")
        guest = self._guests.enter(address)
        if guest is None:
            raise LimitReached(f"{self._guests.most} connections from your address are open already.")
        self._taken += 1
        return guest

    def free(self, guest: str) -> None:
        self._guests.leave(guest)
        self._taken -= 1

    def __repr__(self) -> str:
        return f"<ConnectionLimit {self._taken} of {self._most} taken, {self._guests!r}>"
