"""The cookies of one check, from the response that sets them to the verdict on them.

A site that issues a new session on each visit has ended the old one by the time its response begins. So new cookies
are taken, and sent to storage, before the body is read: a crash, a cut body or an edit of the source during a check
loses none. The previous cookies are kept until the check is over. If the check finds a signed-out page, they are
restored.

Several checks may share cookies that one source lends. Each sends the current ones when its turn at the host comes and
adds its response's, without judging those that another check received since.
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
"""Statuses whose cookies are ignored: a rejected request often gets those of a new visitor."""


class Renewal:
    """The cookies of a check with a user's headers. kept: where they are stored, if anywhere."""

    __slots__ = ("_before", "_has_heard", "_headers", "_kept", "_left", "_ports")

    def __init__(self, ports: Ports, headers: str | None, kept: KeptCookies | None) -> None:
        self._ports, self._headers, self._kept = ports, headers, kept
        self._before = self._left = self.now
        self._has_heard = False

    def __repr__(self) -> str:
        return f"<Renewal of {self._kept}>"

    @property
    def now(self) -> str:
        """The current cookies, in stored form."""
        return "" if self._kept is None else self._kept.kept

    def opening(self, access: Access) -> Access:
        """Return the access at the moment a request is sent."""
        if not self._has_heard:
            self._before = self._left = self.now
        return access.kept(self.now)

    def heard(self, access: Access, url: Url, said: SetCookies) -> Access:
        """Return the access after a response that sets cookies, which are not yet proven."""
        known = access.kept(self.now)
        after = known.after(url, said, self._ports.world.now())
        if after is not known:
            self._has_heard = True
            self._put(after.cookies)
        return after

    def works(self, *, at_once: bool = False) -> None:
        """Confirm the cookies: the check was signed in.

        at_once: store them now, not with the next state, so that the node that watches the source reads them.
        """
        if self.now == self._left:
            self._put(cookies.settled(self.now), worked=True)
        if at_once and self._kept is not None:
            self._kept.save(self._ports.recorder, at_once=True)

    def shut_out(self) -> None:
        """Reject the cookies: the check was signed out. The next check tries the other set, if there is one."""
        if self.now != self._left:
            return
        before = self._before
        if self._has_heard and not before and (given := given_in(self._headers)) is not None:
            before = cookies.written(given)
        self._put(cookies.turned(before))

    @contextmanager
    def unless_wall(self) -> Iterator[None]:
        """Read a page. An unreadable one may be a wall that set a new visitor's cookies; one that is too large may
        not."""
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
    """Return the renewal for a check of a source, or of one of its item pages."""
    return Renewal(ports, seen.source.headers, seen.cookies)


@dataclass(slots=True)
class Opened:
    """The access of a request, as renewed so far by responses. renewal: None if none stores it.

    passing: by origin, cookies that the check received where the user gave none; discarded with the check.
    """

    ports: Ports
    url: Url
    access: Access
    renewal: Renewal | None
    passing: dict[str, Jar] = field(default_factory=dict, repr=False)

    def begin(self) -> Access:
        """Return the current access, as the request is about to be sent."""
        if self.renewal is not None:
            self.access = self.renewal.opening(self.access)
        return self.access

    def headers(self, access: Access) -> Sequence[tuple[bytes, bytes]]:
        """Return the headers to send, given the access from `begin`."""
        now = self.ports.world.now()
        sent = "" if self._is_given else cookies.header(self.passing.get(self.url.origin, ()), self.url, now)
        return (*access.to(self.url, now), *([(b"Cookie", sent.encode("latin-1"))] if sent else []))

    @property
    def _is_given(self) -> bool:
        return self.url.origin == self.access.origin and self.access.given is not None

    def take(self, said: SetCookies, status: int) -> None:
        """Take a response's cookies."""
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
