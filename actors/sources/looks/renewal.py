"""The cookies of one look, from what its answer sets to what is known of it in the end.

A site that gives a new session at each visit has signed out the old one by the time its answer begins. So what it sets
is taken over, and on its way to storage, before the body is read: a crash, a cut body or a change of the source in the
middle of a look loses nothing that has come. What came before stays beside it until the look is over. A look that finds
the page of a stranger goes back to that.

Several looks may go with the same cookies, where one source lends them. Each sends what there is when its turn at the
host has come, adds to what there is by then what its answer sets, and says nothing of what another one has been given
since.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from actors.egress import cookies
from actors.egress.cookies import Jar, SetCookies
from actors.egress.failures import LookFailed, ReadingStopped
from actors.egress.url import Url
from actors.sources.kept_cookies import KeptCookies
from actors.sources.lending import Borrowed
from actors.sources.looks.access import Access, given_in
from actors.sources.ports import Ports

SHUT_OUT = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
"""Statuses whose cookies are not taken: who is shut out is often given a stranger's."""


class Renewal:
    """The cookies of a look that is about to be made with a user's headers. kept: where they are, if anywhere."""

    __slots__ = ("_before", "_has_heard", "_headers", "_kept", "_left", "_ports")

    def __init__(self, ports: Ports, headers: str | None, kept: KeptCookies | None) -> None:
        self._ports, self._headers, self._kept = ports, headers, kept
        self._before = self._left = self.now
        self._has_heard = False

    def __repr__(self) -> str:
        return f"<Renewal of {self._kept}>"

    @property
    def now(self) -> str:
        """The cookies as they are kept by now."""
        return "" if self._kept is None else self._kept.kept

    def opening(self, access: Access) -> Access:
        """Return what opens the origin at the moment when a request is sent."""
        if not self._has_heard:
            self._before = self._left = self.now
        return access.kept(self.now)

    def heard(self, access: Access, url: Url, said: SetCookies) -> Access:
        """Return what opens the origin after an answer that sets something; whether it is good nobody knows yet."""
        known = access.kept(self.now)
        after = known.after(url, said, self._ports.world.now())
        if after is not known:
            self._has_heard = True
            self._put(after.cookies)
        return after

    def works(self, *, at_once: bool = False) -> None:
        """The look was that of who is signed in: so are the cookies that came with it.

        at_once: that is stored now, and not with the next state: the node that watches the source reads it there.
        """
        if self.now == self._left:
            self._put(cookies.settled(self.now), worked=True)
        if at_once and self._kept is not None:
            self._kept.save(self._ports.recorder, at_once=True)

    def shut_out(self) -> None:
        """The look was a stranger's: what it set is left, and where two sets are possible the next look tries the other
        one.
        """
        if self.now != self._left:
            return
        before = self._before
        if self._has_heard and not before and (given := given_in(self._headers)) is not None:
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

    def _put(self, kept: str, *, worked: bool = False) -> None:
        if self._kept is not None:
            self._kept.put(kept, worked=worked)
            self._kept.save(self._ports.recorder)
        self._left = self.now


def renewal_of(ports: Ports, seen: Borrowed) -> Renewal:
    """Return the cookies of a look that is about to be made of a source, or of a page of its own."""
    return Renewal(ports, seen.source.headers, seen.cookies)


@dataclass(slots=True)
class Opened:
    """What opens the origin of a request, as its answer has renewed it so far. renewal: None where none keeps it.

    passing: by origin, the cookies that the check was given on its way, of which the user gave none. They are gone
    with the check.
    """

    ports: Ports
    url: Url
    access: Access
    renewal: Renewal | None
    passing: dict[str, Jar] = field(default_factory=dict, repr=False)

    def begin(self) -> Access:
        """Return it as it is now that the request is sent."""
        if self.renewal is not None:
            self.access = self.renewal.opening(self.access)
        return self.access

    def headers(self, access: Access) -> Sequence[tuple[bytes, bytes]]:
        """Return what is sent, by the access that `begin` has returned."""
        now = self.ports.world.now()
        sent = "" if self._is_given else cookies.header(self.passing.get(self.url.origin, ()), self.url, now)
        return (*access.to(self.url, now), *([(b"Cookie", sent.encode("latin-1"))] if sent else []))

    @property
    def _is_given(self) -> bool:
        return self.url.origin == self.access.origin and self.access.given is not None

    def take(self, said: SetCookies, status: int) -> None:
        """Take over what the answer sets."""
        if status in SHUT_OUT:
            return
        if not self._is_given:
            jar = self.passing.get(self.url.origin, ())
            self.passing[self.url.origin] = cookies.taken(jar, self.url, said, self.ports.world.now())
            return
        if self.renewal is None:
            self.access = self.access.after(self.url, said, self.ports.world.now())
        else:
            self.access = self.renewal.heard(self.access, self.url, said)
