"""The current cookies of one source's headers, shared by all requests that use them.

Several checks may run with the same headers: the source's own, those of borrowers, one on request. The source may be
edited at the same time, which replaces its record. All of them share the cookies here, so each new cookie reaches the
next request, whatever happens to the record. New headers start a new object: a check that still uses the old ones
renews the discarded one.

Their age is stored with them; storage never overwrites younger cookies with older ones.
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

MOST_TRIED: Final = 64
LONGEST: Final = 900.0
"""Seconds that the cookies of a previewed URL are kept, for a user who is still filling in the form."""


class KeptCookies:
    """One set of cookies. source: the owner, None for a preview. `kept`: in the format of `actors/egress/cookies.py`,
    "" until one is renewed. `text`: the same with their age. `behind`: storage has older ones, as far as known.
    """

    __slots__ = ("_saved", "_urgent", "age", "behind", "kept", "source", "text")

    def __init__(self, source: SourceId | None, stored: str = "") -> None:
        self.source = source
        self.age, self.kept = parted(stored)
        self._saved, self.text = self.age, stored
        self._urgent = self.behind = False

    def __repr__(self) -> str:
        return f"<KeptCookies of {self.source}, {self.age}>"

    def put(self, kept: str, *, worked: bool = False) -> None:
        """Take the cookies that a check renewed; worked: they are known to be good."""
        if kept and kept != self.kept:
            self._urgent = self._urgent or is_renewed(self.kept, kept)
            given, works, turn = self.age
            self._become(Age(given, works + worked, turn + 1), kept)

    def of_other_headers(self) -> KeptCookies:
        """Return the empty cookies of a source that got new headers."""
        return KeptCookies(self.source, joined(Age(self.age.given + 1), ""))

    def met(self, stored: str) -> KeptCookies:
        """Return these, merged with storage's, which another node may have written: younger ones, or for other
        headers."""
        age, kept = parted(stored)
        if age.given != self.age.given:
            return KeptCookies(self.source, stored)
        self.heard(age, stored=True)
        if age > self.age:
            self._become(age, kept)
        return self

    def save(self, recorder: Mailbox[RecorderMessage], *, at_once: bool = False) -> None:
        """Store them now if storage's would send other cookies; else the next sweep does."""
        if (self._urgent or (at_once and self.behind)) and self.source is not None:
            try:
                recorder.send_nowait(SaveStates((), partial(self.heard, self.age), ((self.source, self.text),)))
                self._urgent = False
            except MailboxFull:
                pass  # the sweep saves them

    def heard(self, age: Age, stored: bool) -> None:
        """Record whether those of an age are stored."""
        if stored:
            self._saved = max(self._saved, age)
            self.behind = self.age > self._saved

    def _become(self, age: Age, kept: str) -> None:
        self.age, self.kept, self.text = age, kept, joined(age, kept)
        self.behind = age > self._saved


class TriedCookies:
    """The cookies of previews, in memory only: adding a previewed URL continues with its renewed cookies.

    Keyed by origin and headers. Bounded in number and age; the least recently used go first.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[KeptCookies, float]] = OrderedDict()

    def __repr__(self) -> str:
        return f"<TriedCookies {len(self._kept)}>"

    def of(self, name: str) -> KeptCookies:
        """Return the cookies under a name; new ones if missing or expired."""
        now = trio.current_time()
        kept, since = self._kept.pop(name, (KeptCookies(None), now))
        if now - since > LONGEST:
            kept = KeptCookies(None)
        self._kept[name] = kept, now
        while len(self._kept) > MOST_TRIED:
            self._kept.popitem(last=False)
        return kept

    def give(self, name: str, source: SourceId) -> KeptCookies:
        """Return the cookies under a name for the source that was added with them."""
        kept = self.of(name)
        del self._kept[name]
        kept.source = source
        return kept
