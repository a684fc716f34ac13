"""The places for connections."""

from __future__ import annotations

from api.address_limit import AddressLimit


class LimitReached(Exception):
    """There is no place; the message is a sentence for the client."""


class ConnectionLimit:
    """So many places in all, and of these so many for one address as `guests` says."""

    def __init__(self, most: int, guests: AddressLimit) -> None:
        self._most, self._taken, self._guests = most, 0, guests

    def take(self, address: str) -> str:
        """Take a place; return the name under which to give it back. Raises Full."""
        if self._taken >= self._most:
            raise LimitReached("Too many connections are open.")
        guest = self._guests.enter(address)
        if guest is None:
            raise LimitReached(f"{self._guests.most} connections from your address are open already.")
        self._taken += 1
        return guest

    def free(self, guest: str) -> None:
        """Give a place back."""
        self._guests.leave(guest)
        self._taken -= 1

    def __repr__(self) -> str:
        return f"<ConnectionLimit {self._taken} of {self._most} taken, {self._guests!r}>"
