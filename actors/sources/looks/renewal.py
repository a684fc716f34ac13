"""The cookies of one look, from what its answer sets to what is known of it in the end.

A site that gives a new session at each visit has signed out the old one by the time its answer begins. So what it sets
is taken over, and on its way to storage, before the body is read: a crash, a cut body or a change of the source in the
middle of a look loses nothing that has come. What came before stays beside it until the look is over. A look that finds
the page of a stranger goes back to that.

Several looks may go with the same cookies, where one source lends them. Each sends what there is when its turn at the
host has come, and says nothing of what another one has been given since.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus

from actors.egress import cookies
from actors.egress.cookies import SetCookies
from actors.egress.failures import LookFailed, ReadingStopped
from actors.egress.url import Url
from actors.messages.recorder import SaveStates
from actors.sources.lending import Borrowed
from actors.sources.looks.access import Access, access_of
from actors.sources.ports import Ports
from supervision import MailboxFull

SHUT_OUT = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
"""Statuses whose cookies are not taken: who is shut out is often given a stranger's."""


class Renewal:
    """The cookies of a look that is about to be made of a source, or of a page of its own."""

    __slots__ = ("_before", "_has_heard", "_left", "_ports", "_seen")

    def __init__(self, ports: Ports, seen: Borrowed) -> None:
        self._ports, self._seen = ports, seen
        self._before = self._left = seen.cookies
        self._has_heard = False

    def __repr__(self) -> str:
        return f"<Renewal of {self._seen.source.id}>"

    @property
    def now(self) -> str:
        """The cookies as they are kept by now."""
        return self._seen.cookies

    def opening(self, access: Access) -> Access:
        """Return what opens the origin at the moment when a request is sent."""
        if not self._has_heard:
            self._before = self._left = self.now
        return access.kept(self.now)

    def heard(self, access: Access, url: Url, said: SetCookies) -> Access:
        """Return what opens the origin after an answer that sets something; whether it is good nobody knows yet."""
        after = access.after(url, said, self._ports.world.now())
        if after is not access:
            self._has_heard = True
            self._put(after.cookies)
        return after

    def works(self) -> None:
        """The look was that of who is signed in: so are the cookies that came with it."""
        if self.now == self._left:
            self._put(cookies.settled(self.now))

    def shut_out(self) -> None:
        """The look was a stranger's: what it set is left, and where two sets are possible the next look tries the other
        one.
        """
        if self.now != self._left:
            return
        before = self._before
        if self._has_heard and not before and (given := access_of(self._seen.source).given) is not None:
            before = cookies.written(given)
        self._put(cookies.turned(before))

    @contextmanager
    def unless_wall(self) -> Iterator[None]:
        """Read a page: a wall, which is none, may have set a stranger's cookies. What is too much to read may not."""
        try:
            yield
        except ReadingStopped:
            raise
        except LookFailed:
            self.shut_out()
            raise

    def _put(self, kept: str) -> None:
        self._seen.keep(kept)
        self._left = self.now
        keeper = self._seen.keeper
        if keeper is not None and keeper.renewed:
            with suppress(MailboxFull):  # else the look's own commit, or the sweep, saves them
                self._ports.recorder.send_nowait(SaveStates((keeper.swept(),)))
                keeper.renewed = False


@dataclass(slots=True)
class Opened:
    """What opens the origin of a request, as its answer has renewed it so far. renewal: None where none keeps it."""

    ports: Ports
    url: Url
    access: Access
    renewal: Renewal | None

    def begin(self) -> Access:
        """Return it as it is now that the request is sent."""
        if self.renewal is not None:
            self.access = self.renewal.opening(self.access)
        return self.access

    def take(self, said: SetCookies, status: int) -> None:
        """Take over what the answer sets."""
        if status in SHUT_OUT:
            return
        if self.renewal is None:
            self.access = self.access.after(self.url, said, self.ports.world.now())
        else:
            self.access = self.renewal.heard(self.access, self.url, said)
