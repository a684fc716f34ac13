"""The cookies of one source's headers, as they are by now: one thing for all who go with them.

Several looks may be under way with the same headers: the source's own, those of sources that borrow them, one that
somebody asked for. Meanwhile the source may be edited, which makes another record of it. All of them hold the same
cookies here, so what one has been given is there for the next, whatever becomes of the source's record. Other headers
are another thing: who still looks with the old ones renews what nobody reads any more.

How old they are travels with them to storage, which never writes older ones over younger ones.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import Final

import trio

from actors.egress.cookies import is_renewed
from actors.messages.recorder import RecorderMessage, SaveStates
from storage.records.identity import SourceId
from storage.records.kept_cookies import Age, joined, parted
from supervision import Mailbox, MailboxFull

MOST_TRIED: Final = 64
LONGEST: Final = 900.0
"""Seconds for which the cookies of a URL that is only tried out are kept: who fills in a form takes his time."""


class KeptCookies:
    """See above. source: whose they are, None of somebody who only tries out a URL. `kept`: as
    `actors/egress/cookies.py` writes them, "" as long as none were renewed. `text`: the same with their age.
    `behind`: what is stored is older, as far as is known.
    """

    __slots__ = ("_age", "_saved", "_urgent", "behind", "kept", "source", "text")

    def __init__(self, source: SourceId | None, stored: str = "") -> None:
        self.source = source
        self._age, self.kept = parted(stored)
        self._saved, self.text = self._age, stored
        self._urgent = self.behind = False

    def __repr__(self) -> str:
        return f"<KeptCookies of {self.source}, {self._age}>"

    def put(self, kept: str, *, worked: bool = False) -> None:
        """Take over what a look has renewed; worked: it is known to be good."""
        if kept and kept != self.kept:
            self._urgent = self._urgent or is_renewed(self.kept, kept)
            given, works, turn = self._age
            self._become(Age(given, works + worked, turn + 1), kept)

    def of_other_headers(self) -> KeptCookies:
        """Return what the source has of cookies once it has been given other headers: none are renewed."""
        return KeptCookies(self.source, joined(Age(self._age.given + 1), ""))

    def met(self, stored: str) -> KeptCookies:
        """Return these after what storage says, which another node may have written: younger ones, or other headers."""
        age, kept = parted(stored)
        if age.given != self._age.given:
            return KeptCookies(self.source, stored)
        self.heard(age, stored=True)
        if age > self._age:
            self._become(age, kept)
        return self

    def save(self, recorder: Mailbox[RecorderMessage], *, at_once: bool = False) -> None:
        """Have them stored at once if others would be sent by now than those that are; else the next sweep does it."""
        if (self._urgent or (at_once and self.behind)) and self.source is not None:
            try:
                recorder.send_nowait(SaveStates((), partial(self.heard, self._age), ((self.source, self.text),)))
                self._urgent = False
            except MailboxFull:
                pass  # the sweep saves them

    def heard(self, age: Age, stored: bool) -> None:
        """Take note of whether those of an age are stored."""
        if stored:
            self._saved = max(self._saved, age)
            self.behind = self._age > self._saved

    @property
    def age(self) -> Age:
        """How old they are."""
        return self._age

    def _become(self, age: Age, kept: str) -> None:
        self._age, self.kept, self.text = age, kept, joined(age, kept)
        self.behind = age > self._saved


class TriedCookies:
    """The cookies of previews, in memory only: who adds what he has looked at goes on with what that look has renewed.

    By the origin and the headers that were given. Bounded in number and age; what was used longest ago goes first.
    """

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[KeptCookies, float]] = OrderedDict()

    def __repr__(self) -> str:
        return f"<TriedCookies {len(self._kept)}>"

    def of(self, name: str) -> KeptCookies:
        """Return the cookies under a name; new ones where there are none, or no longer."""
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
