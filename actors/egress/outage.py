"""Outage detection: many hosts that fail at once mean that our own uplink is down, and none is at fault. Pure.

The caller (`uplink`) only passes on hosts that have answered at some time.

The uplink is down when within 60 seconds at least half of at least 20 distinct hosts failed, or when 5 hosts failed by
local faults and no more than that succeeded (a name with a broken zone can look like a silent resolver; five such
names among thousands of successes are no outage). It is up again when 3 hosts succeed, and the conditions no longer
hold. After five minutes one success is enough, as there may be no three live hosts: then many hosts were dead, not us.
Hosts that failed during an outage do not count towards the next one until they have answered again; otherwise dead
ones would cause one outage after the other.
"""

from __future__ import annotations

from collections import OrderedDict
from enum import Enum

WINDOW = 60.0
MOST_HOSTS = 4096
"""Most hosts; the oldest goes first. With more a minute, a sample is as good."""

HOSTS_TO_JUDGE = 20
FAILING_SHARE = 0.5
LOCAL_HOSTS = 5
HOSTS_TO_RETURN = 3
PATIENCE = 300.0


class Word(Enum):
    """The result of the last request to a host."""

    ANSWERED = "answered"
    FAILED = "failed"
    LOCAL = "local"


class Turn(Enum):
    """The change after a new result."""

    NOTHING = "nothing"
    WENT_DOWN = "went down"
    CAME_BACK = "came back"


class Outage:
    """The last result of each host within the window, and the verdict. The cost of a result is constant."""

    def __init__(self) -> None:
        self._words: OrderedDict[str, tuple[float, Word]] = OrderedDict()  # oldest first
        self._counts = dict.fromkeys(Word, 0)
        self._failed: dict[str, None] = {}  # while down: hosts that did not answer
        self._dead: dict[str, None] = {}  # hosts that have not answered since an outage
        self.down_since: float | None = None

    def __repr__(self) -> str:
        state = "up" if self.down_since is None else f"down since {self.down_since:g}"
        counts = ", ".join(f"{count} {word.value}" for word, count in self._counts.items())
        return f"<Outage {state}; hosts: {counts}>"

    @property
    def down(self) -> bool:
        """Whether our uplink is considered down: breakers and scores are then frozen."""
        return self.down_since is not None

    def heard(self, host: str, word: Word, now: float) -> Turn:
        """Take a host's result and return the change. `now`: seconds of a monotonic clock."""
        self._forget(host)
        if word is Word.ANSWERED:
            self._dead.pop(host, None)
            self._failed.pop(host, None)
        if word is Word.FAILED and host in self._dead:
            return Turn.NOTHING
        if word is Word.FAILED and self.down and len(self._failed) < MOST_HOSTS:
            self._failed[host] = None
        self._words[host] = (now, word)
        self._counts[word] += 1
        while len(self._words) > MOST_HOSTS or now - self._oldest() > WINDOW:
            self._forget(next(iter(self._words)))
        if not self.down and self._is_outage():
            self.down_since = now
            self._failed = {host: None for host, (_, said) in self._words.items() if said is Word.FAILED}
            return Turn.WENT_DOWN
        if self._is_back(now):
            self.down_since = None
            self._dead, self._failed = self._failed, {}
            return Turn.CAME_BACK
        return Turn.NOTHING

    def _is_back(self, now: float) -> bool:
        if self.down_since is None or self._is_outage():
            return False
        needed = HOSTS_TO_RETURN if now - self.down_since < PATIENCE else 1
        return self._counts[Word.ANSWERED] >= needed

    def _oldest(self) -> float:
        return next(iter(self._words.values()))[0]

    def _forget(self, host: str) -> None:
        said = self._words.pop(host, None)
        if said is not None:
            self._counts[said[1]] -= 1

    def _is_outage(self) -> bool:
        answered, local = self._counts[Word.ANSWERED], self._counts[Word.LOCAL]
        failing = local + self._counts[Word.FAILED]
        known = failing + answered
        if known >= HOSTS_TO_JUDGE and failing >= FAILING_SHARE * known:
            return True
        return local >= LOCAL_HOSTS and answered <= local
