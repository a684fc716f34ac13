"""Is it us? Many hosts that fail at once mean that our own line is down, and that none of them is to blame. Pure.

Down, when within 60 seconds at least half of at least 20 distinct hosts failed, or when 5 hosts failed by local
faults and no more than that succeeded (a name whose own zone is broken can look like a silent resolver; five such
names among thousands of good looks are no outage). Up again, when hosts succeed: 3 of them, and more than fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

WINDOW = 60.0
MOST_HOSTS = 4096
"""Hosts remembered at most; the oldest word goes first. Beyond that many a minute a sample is as good."""

HOSTS_TO_JUDGE = 20
FAILING_SHARE = 0.5
LOCAL_HOSTS = 5
HOSTS_TO_RETURN = 3


class Word(Enum):
    """What the last look at a host said about the way to it."""

    ANSWERED = "answered"
    FAILED = "failed"
    LOCAL = "local"


class Turn(Enum):
    """What a new word changed."""

    NOTHING = "nothing"
    WENT_DOWN = "went down"
    CAME_BACK = "came back"


@dataclass(frozen=True, slots=True)
class Outage:
    """The state. words: each host's last word and its moment, oldest first. down_since: None while all is well."""

    words: Mapping[str, tuple[float, Word]] = field(default_factory=dict)
    down_since: float | None = None

    @property
    def down(self) -> bool:
        """Whether our own line is held to be down: breakers and scores are then frozen."""
        return self.down_since is not None


def heard(state: Outage, host: str, word: Word, now: float) -> tuple[Outage, Turn]:
    """Return the state after a look at a host, and what that changed. `now`: seconds of a monotonic clock."""
    words = {name: said for name, said in state.words.items() if name != host and now - said[0] <= WINDOW}
    words[host] = (now, word)
    if len(words) > MOST_HOSTS:
        del words[next(iter(words))]
    counted = _count(words)
    if not state.down and _is_outage(counted):
        return Outage(words, now), Turn.WENT_DOWN
    if state.down and _is_over(counted):
        return Outage({}, None), Turn.CAME_BACK
    return replace(state, words=words), Turn.NOTHING


def _count(words: Mapping[str, tuple[float, Word]]) -> Mapping[Word, int]:
    counted = dict.fromkeys(Word, 0)
    for _, word in words.values():
        counted[word] += 1
    return counted


def _is_outage(counted: Mapping[Word, int]) -> bool:
    failing = counted[Word.FAILED] + counted[Word.LOCAL]
    known = failing + counted[Word.ANSWERED]
    if known >= HOSTS_TO_JUDGE and failing >= FAILING_SHARE * known:
        return True
    return counted[Word.LOCAL] >= LOCAL_HOSTS and counted[Word.ANSWERED] <= counted[Word.LOCAL]


def _is_over(counted: Mapping[Word, int]) -> bool:
    return counted[Word.ANSWERED] >= HOSTS_TO_RETURN and not _is_outage(counted)
