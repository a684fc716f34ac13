"""Who may use the dashboard, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from storage.interface import Lease
from storage.memory.disk import Apply, Disk
from storage.memory.writer import Writer
from storage.records.identity import Millis
from storage.records.session import Password, Session, SetUpLink


class MemoryPeople:
    """See `storage.people.People`."""

    def __init__(self, disk: Disk, writer: Writer, lease: Lease) -> None:
        self._disk, self._writer, self._lease = disk, writer, lease

    async def password(self) -> Password | None:
        """Return the password; see People."""
        return self._disk.password

    async def link(self) -> SetUpLink | None:
        """Return the set-up link; see People."""
        return self._disk.link

    async def offer(self, link: SetUpLink) -> None:
        """Keep a set-up link; see People."""

        def apply() -> None:
            self._disk.link = link

        await self._writer.commit(self._lease, lambda: (None, apply))

    async def settle(self, password: Password, session: Session, *, link: str | None = None) -> bool:
        """Set the password and begin anew; see People."""

        def job() -> tuple[bool, Apply]:
            waits = self._disk.link
            if link is not None and (waits is None or waits.sha256 != link):
                return False, lambda: None

            def apply() -> None:
                self._disk.password, self._disk.link = password, None
                self._disk.sessions.clear()
                self._disk.sessions[session.id] = session

            return True, apply

        return await self._writer.commit(self._lease, job)

    async def sign_in(self, session: Session, under: Password) -> bool:
        """Open a session; see People."""

        def job() -> tuple[bool, Apply]:
            if self._disk.password != under:
                return False, lambda: None
            return True, lambda: self._disk.sessions.update({session.id: session})

        return await self._writer.commit(self._lease, job)

    async def session(self, sha256: str) -> Session | None:
        """Return the session with this hash; see People. Not a checkpoint."""
        return next((one for one in self._disk.sessions.values() if one.sha256 == sha256), None)

    async def sessions(self) -> Sequence[Session]:
        """Return all sessions; see People."""
        return sorted(self._disk.sessions.values(), key=lambda one: (-one.seen_at, one.id))

    async def sign_out(self, session_id: str) -> bool:
        """End a session; see People."""

        def job() -> tuple[bool, Apply]:
            return session_id in self._disk.sessions, lambda: self._forget(session_id)

        return await self._writer.commit(self._lease, job)

    async def touch(self, seen: Mapping[str, Millis]) -> None:
        """Record when sessions were last used; see People."""
        marks = dict(seen)

        def apply() -> None:
            for session_id, at in marks.items():
                one = self._disk.sessions.get(session_id)
                if one is not None:
                    self._disk.sessions[session_id] = replace(one, seen_at=at)

        await self._writer.commit(self._lease, lambda: (None, apply))

    async def sweep(self, now: Millis, limit: int) -> int:
        """Delete sessions that have ended by age; see People."""

        def job() -> tuple[int, Apply]:
            doomed = [one.id for one in self._disk.sessions.values() if one.ends_at <= now][:limit]

            def apply() -> None:
                for session_id in doomed:
                    self._forget(session_id)

            return len(doomed), apply

        return await self._writer.commit(self._lease, job)

    def _forget(self, session_id: str) -> None:
        self._disk.sessions.pop(session_id, None)
