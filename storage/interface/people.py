"""The store of the dashboard's password and sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from storage.records.identity import Millis
from storage.records.session import Password, Session, SetUpLink


class People(Protocol):
    """The dashboard's password, the link to set it, and the sessions.

    The next call sees changes by other processes (commands).
    """

    async def password(self) -> Password | None:
        """Return the password, None before the first one is set."""

    async def link(self) -> SetUpLink | None:
        """Return the unused set-up link."""

    async def offer(self, link: SetUpLink) -> None:
        """Store a set-up link, replacing any other."""

    async def settle(self, password: Password, session: Session, *, link: str | None = None) -> bool:
        """Set the password, end every session and open this one, in one transaction; return whether it was done.

        With `link` (a SHA-256), only if that link is unused, and use it up. Without, any unused link is deleted.
        """

    async def sign_in(self, session: Session, under: Password) -> bool:
        """Open a session unless the password has changed; return whether it was opened."""

    async def session(self, sha256: str) -> Session | None:
        """Return the session with this hash, expired or not. On the path of every request: microseconds."""

    async def sessions(self) -> Sequence[Session]:
        """Return all sessions, last used first."""

    async def sign_out(self, session_id: str) -> bool:
        """End a session at once; return whether there was one."""

    async def touch(self, seen: Mapping[str, Millis]) -> None:
        """Record when sessions were last used (lazily, in batches)."""

    async def sweep(self, now: Millis, limit: int) -> int:
        """Delete at most `limit` expired sessions; return how many."""
