"""Views that actors answer with: a source as it is now, the reasons, pages of a list. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from storage.records.health import Cause
from storage.records.identity import Millis, SourceId
from storage.records.source import Source, SourceRuntime
from storage.records.source_state import state_of
from storage.records.states import SourceState
from storage.records.value import StandingValues

ReasonKind = Literal[
    "told", "withheld", "due", "failed", "known", "furniture", "outside", "there", "absent", "unasked", "look"
]
"""What is known: it was told; seen and withheld; is there now and will be weighed; could not be read; is there now and
no news; stands in furniture, or outside of what is watched; was there at the first look; is not there; nobody asked for
it (push); how a look went."""


@dataclass(frozen=True, slots=True)
class TestResult:
    """What became of a test delivery."""

    result: str
    status_code: int | None
    latency_ms: int
    detail: str
    said: str = ""
    """The beginning of the response, control characters escaped."""


@dataclass(frozen=True, slots=True)
class PushView:
    """What a push source's connections have brought since the service started. `connected_since` None: there is none.

    Each frame counts once more: as admitted, a duplicate, filtered (nobody wants it) or unreadable.
    """

    connected_since: Millis | None = None
    subprotocol: str | None = None
    connections: int = 0
    frames: int = 0
    admitted: int = 0
    duplicates: int = 0
    filtered: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class SourceView:
    """A source as it is at this moment: what was asked for, and the live memory of its actor."""

    source: Source
    hot: SourceRuntime
    overdue: bool = False
    queue_position: int = 0
    """How many looks wait for its host before its own; 0 when none does, or when it does not wait."""
    push: PushView | None = None
    headers_from: SourceId | None = None
    """The source with whose headers it is looked at, if not with its own."""
    inheriting: Source | None = None
    """The source with what it inherits of its tags; see `actors/inheriting.py`. None: nothing."""
    private: bool = False
    """What it tells is for its owner: it is checked with headers, or in an opened network."""

    @property
    def effective(self) -> Source:
        """The source as it is watched."""
        return self.inheriting or self.source

    @property
    def state(self) -> SourceState:
        """How it is now."""
        return state_of(self.source, self.hot, overdue=self.overdue)


@dataclass(frozen=True, slots=True)
class AddedSource:
    """The answer to AddSource; `created` is False when the URL was already watched."""

    view: SourceView
    created: bool


@dataclass(frozen=True, slots=True)
class TeachResult:
    """The answer to Teach: how many of the blocks were new to the source's noise, or were taken out of it."""

    view: SourceView
    blocks: int


@dataclass(frozen=True, slots=True)
class PracticeChange:
    """The answer to ChangePractice: the source, and what was changed, as a sentence."""

    view: SourceView
    says: str


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that is known about a source or a text in it, as a sentence; `event` is the id of the event meant."""

    kind: ReasonKind
    says: str
    at: Millis | None = None
    event: str | None = None
    text: str = ""


class ToldBlock(NamedTuple):
    """A text of a page. row, column: where it stands in a table. aside: it is furniture, or a control."""

    text: str
    heading: bool
    item: bool
    aside: bool
    row: str
    column: str


class ToldPage(NamedTuple):
    """A page as it was last told, in its order.

    more: of how many blocks only the keys are kept. untold: how many came or went since and were not told.
    standing: its values, if these were asked for.
    """

    blocks: Sequence[ToldBlock]
    more: int
    untold: int
    standing: StandingValues = StandingValues()


@dataclass(frozen=True, slots=True)
class SourceExplanation:
    """The answer to ExplainSource: what is known, what answers best first, and how the watching stands."""

    view: SourceView
    reasons: Sequence[Reason]
    state: str


@dataclass(frozen=True, slots=True)
class HealthPart:
    """One of the things that a score is made of: the part of it that is left (1.0: it costs nothing), and why."""

    cause: Cause
    left: float
    says: str


@dataclass(frozen=True, slots=True)
class SourceExamination:
    """The answer to ExamineSource. `next_look`: why it is when it is. `gap`: seconds from one change to the next, None
    when too little is known.
    """

    view: SourceView
    health: Sequence[HealthPart]
    next_look: str
    gap: float | None


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page of sources; `next_after` is None at the end. `census`: how many of all are in which state."""

    views: Sequence[SourceView]
    next_after: tuple[int, float, str, int] | None
    census: Mapping[SourceState, int] = field(default_factory=dict)
