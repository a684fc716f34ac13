"""The current cookies of one source's headers, shared by all requests that use them: its own checks, those of
borrowers, one on request. So each new cookie reaches the next request, also while the source is edited. New headers
start a new object: a check that still uses the old ones renews the discarded one. Their age is stored with them;
storage never overwrites younger cookies with older ones.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import Final

import trio

from actors.egress.cookies import is_renewed
from actors.messages.workers import RecorderMessage, SaveStates
from storage.records.identity import SourceId
from storage.records.source import Age, joined, parted
from supervision import Mailbox, MailboxFull

MOST_PREVIEWS: Final = 64
LONGEST: Final = 900.0
"""Seconds that the cookies of a previewed URL are kept, for a user who is still filling in the form."""


class SessionCookies:
    """One set of cookies. source: the owner, None for a preview. `current`: in the format of
    `actors/egress/cookies.py`, "" until one is renewed. `text`: the same with their age. `needs_save`: storage has
    older ones, as far as known.
    """

    __slots__ = ("_saved_age", "_urgent", "age", "current", "needs_save", "source", "text")

    def __init__(self, source: SourceId | None, stored: str = "") -> None:
        self.source = source
        self.age, self.current = parted(stored)
        self._saved_age, self.text = self.age, stored
        self._urgent = self.needs_save = False

    def __repr__(self) -> str:
        return f"<SessionCookies of {self.source}, {self.age}>"

    def put(self, renewed: str, *, confirmed: bool = False) -> None:
        """Take the cookies that a check renewed; confirmed: they are known to be good."""
        if renewed and renewed != self.current:
            self._urgent = self._urgent or is_renewed(self.current, renewed)
            given, works, turn = self.age
            self._set(Age(given, works + confirmed, turn + 1), renewed)

    def for_new_headers(self) -> SessionCookies:
        return SessionCookies(self.source, joined(Age(self.age.given + 1), ""))

    def merge(self, stored: str) -> SessionCookies:
        """Return these, or storage's if another node has written younger ones, or ones for other headers."""
        age, cookies = parted(stored)
        if age.given != self.age.given:
            return SessionCookies(self.source, stored)
        self.on_saved(age, saved=True)
        if age > self.age:
            self._set(age, cookies)
        return self

    def save(self, recorder: Mailbox[RecorderMessage], *, at_once: bool = False) -> None:
        """Store them now if storage's would send other cookies; else the next sweep does."""
        if (self._urgent or (at_once and self.needs_save)) and self.source is not None:
            try:
                recorder.send_nowait(SaveStates((), partial(self.on_saved, self.age), ((self.source, self.text),)))
                self._urgent = False
            except MailboxFull:
                pass  # the sweep saves them

    def on_saved(self, age: Age, saved: bool) -> None:
        if saved:
            self._saved_age = max(self._saved_age, age)
            self.needs_save = self.age > self._saved_age

    def _set(self, age: Age, cookies: str) -> None:
        self.age, self.current, self.text = age, cookies, joined(age, cookies)
        self.needs_save = age > self._saved_age


class PreviewCookies:
    """The cookies of previews, in memory, by origin and headers: adding a previewed URL continues with them."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, tuple[SessionCookies, float]] = OrderedDict()

    def __repr__(self) -> str:
        return f"<PreviewCookies {len(self._entries)}>"

    def get(self, key: str) -> SessionCookies:
        """Return the cookies under a name; new ones if missing or expired."""
        now = trio.current_time()
        cookies, since = self._entries.pop(key, (SessionCookies(None), now))
        if now - since > LONGEST:
            cookies = SessionCookies(None)
        self._entries[key] = cookies, now
        while len(self._entries) > MOST_PREVIEWS:
            self._entries.popitem(last=False)
        return cookies

    def assign(self, key: str, source: SourceId) -> SessionCookies:
        cookies = self.get(key)
        del self._entries[key]
        cookies.source = source
        return cookies
