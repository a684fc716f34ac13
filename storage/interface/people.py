"""The store of the dashboard's password and sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from storage.records.identity import Millis
from storage.records.session import Password, Session, SetUpLink


class People(Protocol):
    """Who may use the dashboard: the password, the link to set it, and the sessions.

    A change made by another process (the command line) is seen by the next call.
    """

    async def password(self) -> Password | None:
        """Return the password, None before the first one is set."""

    async def link(self) -> SetUpLink | None:
        """Return the set-up link that waits to be used."""

    async def offer(self, link: SetUpLink) -> None:
        """Keep a set-up link in the place of any before."""

    async def settle(self, password: Password, session: Session, *, link: str | None = None) -> bool:
        """Set the password, end every session, and open this one, in one transaction; return whether it was done.

        With `link` (a SHA-256), only if that link waits, and it is used up by it. Without, any link that waits goes.
        """

    async def sign_in(self, session: Session, under: Password) -> bool:
        """Open a session, unless the password is another by now; return whether it was opened."""

    async def session(self, sha256: str) -> Session | None:
        """Return the session with this hash, ended by age or not. On the path of every request: microseconds."""

    async def sessions(self) -> Sequence[Session]:
        """Return all sessions, the one that was used last first."""

    async def sign_out(self, session_id: str) -> bool:
        """End a session; return whether there was one. The very next request with it is a stranger's."""

    async def touch(self, seen: Mapping[str, Millis]) -> None:
        """Record when sessions were last used (lazily, in batches)."""

    async def sweep(self, now: Millis, limit: int) -> int:
        """Delete at most `limit` sessions that have ended by age; return how many went."""
