"""All that travels between actors, and from the front end to them.

Data flows left to right (source -> recorder -> matcher -> destination); commands come in from the right. A message that
wants an answer carries a one-shot `Reply`, made by `Mailbox.ask`. Nothing here does anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from actors.picked import ALL, Picked
from actors.practice.documents import What
from actors.previews import Preview, Previewed
from storage.records.event import SourceType, Stored
from storage.records.health import Cause
from storage.records.identity import Millis, SourceId
from storage.records.revision import Expected
from storage.records.source import Harvest, HotState, Source, SourceState
from supervision import Reply

ReasonKind = Literal[
    "told", "withheld", "due", "failed", "known", "furniture", "outside", "there", "absent", "unasked", "look"
]
"""What is known: it was told; seen and withheld; is there now and will be weighed; could not be read; is there now and
no news; stands in furniture, or outside of what is watched; was there at the first look; is not there; nobody asked for
it (push); how a look went."""

# --- to the recorder -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Record:
    """Commit this harvest. The answer, given after the commit, is its events in order."""

    harvest: Harvest
    reply: Reply[Sequence[Stored]]


@dataclass(frozen=True, slots=True)
class SaveStates:
    """Save states that no harvest carries (a breaker opened, a hold); with the next group commit."""

    states: Sequence[SourceState]


RecorderMessage = Record | SaveStates

# --- to the matcher and the destinations -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LogGrew:
    """There are new events: read on. Many may stand for one, and one for many."""


@dataclass(frozen=True, slots=True)
class AlertsChanged:
    """Alerts or destinations were written: read them again before the next event."""

    reply: Reply[None]


MatcherMessage = LogGrew | AlertsChanged


@dataclass(frozen=True, slots=True)
class OutboxGrew:
    """There are new rows for this destination."""


@dataclass(frozen=True, slots=True)
class TestDelivery:
    """Send one sample now; the answer says how it went."""

    reply: Reply[TestResult]


@dataclass(frozen=True, slots=True)
class TestResult:
    """What became of a test delivery."""

    result: str
    status_code: int | None
    latency_ms: int
    detail: str
    said: str = ""
    """The beginning of the response, control characters escaped."""


DestinationMessage = OutboxGrew | TestDelivery

# --- to the registry of sources --------------------------------------------------------------------------------------


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
    hot: HotState
    overdue: bool = False
    queue_position: int = 0
    """How many looks wait for its host before its own; 0 when none does, or when it does not wait."""
    push: PushView | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """The answer to AddSource; `created` is False when the URL was already watched."""

    view: SourceView
    created: bool


@dataclass(frozen=True, slots=True)
class AddSource:
    """Classify a URL and watch it. Fails with UrlRefused, Unprocessable (not watchable), Overloaded, LibraryFull.

    mark: tags that are the service's own; the source gets them also when it is watched already. later: a URL that can't
    be looked at now is added, too, and found out when it answers; never one that the guard or robots.txt refuses.
    """

    url: str
    reply: Reply[Added]
    type: SourceType | None = None
    tags: tuple[str, ...] = ()
    mark: tuple[str, ...] = ()
    selector: str | None = None
    ignore: tuple[str, ...] = ()
    schedule: int | None = None
    backfill: int = 0
    filter: str | None = None
    bar: float | None = None
    subprotocols: tuple[str, ...] = ()
    hello: str | None = field(default=None, repr=False)
    title: str = ""
    later: bool = False


@dataclass(frozen=True, slots=True)
class DetectUrl:
    """Classify without adding, and show what watching would tell. Fails as AddSource does."""

    url: str
    reply: Reply[Previewed]
    type: SourceType | None = None
    selector: str | None = None
    ignore: tuple[str, ...] = ()
    filter: str | None = None


@dataclass(frozen=True, slots=True)
class PreviewSource:
    """Show what another part of a source's page would be, as the page is now.

    Fails with NotFound, Unprocessable (no page, no CSS, nothing matches), TooSoon, Overloaded.
    """

    source: SourceId
    selector: str | None
    ignore: tuple[str, ...]
    reply: Reply[Preview]


@dataclass(frozen=True, slots=True)
class SourceEdit:
    """What to change; None leaves a field as it is, `clear` names fields to empty."""

    type: SourceType | None = None
    enabled: bool | None = None
    tags: tuple[str, ...] | None = None
    selector: str | None = None
    ignore: tuple[str, ...] | None = None
    schedule: int | None = None
    filter: str | None = None
    bar: float | None = None
    noise: tuple[str, ...] | None = None
    subprotocols: tuple[str, ...] | None = None
    hello: str | None = field(default=None, repr=False)
    title: str | None = None
    clear: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EditSource:
    """Change a source; its actor starts anew with the same memory. Fails with NotFound, Unprocessable, Stale."""

    source: SourceId
    edit: SourceEdit
    reply: Reply[SourceView]
    expected: Expected = None


@dataclass(frozen=True, slots=True)
class Learned:
    """The answer to Teach: how many of the blocks were new to the source's noise, or were taken out of it."""

    view: SourceView
    blocks: int


@dataclass(frozen=True, slots=True)
class Teach:
    """Take blocks of a page, by their texts, into the source's noise, or out of it. Fails as EditSource does."""

    source: SourceId
    texts: tuple[str, ...]
    noise: bool
    reply: Reply[Learned]


@dataclass(frozen=True, slots=True)
class DeleteSource:
    """Stop watching and forget; the events stay. Fails with NotFound, Stale."""

    source: SourceId
    reply: Reply[None]
    expected: Expected = None


@dataclass(frozen=True, slots=True)
class CheckNow:
    """Look now; the answer is when the look is due. Fails with NotFound, Conflict (disabled), TooSoon."""

    source: SourceId
    reply: Reply[Millis]


@dataclass(frozen=True, slots=True)
class ShowPractice:
    """Return the practice sources that there are; with `start`, make those that lack. Fails with Conflict."""

    reply: Reply[Sequence[SourceView]]
    start: bool = False


@dataclass(frozen=True, slots=True)
class Practised:
    """The answer to ChangePractice: the source, and what was changed, as a sentence."""

    view: SourceView
    says: str


@dataclass(frozen=True, slots=True)
class ChangePractice:
    """Change a practice document, which is made if it lacks, and look at it at once. Fails with TooSoon, Conflict."""

    what: What
    reply: Reply[Practised]


@dataclass(frozen=True, slots=True)
class EndPractice:
    """Delete the practice sources; their events stay."""

    reply: Reply[None]


@dataclass(frozen=True, slots=True)
class DescribeSource:
    """Return one source as it is now. Fails with NotFound."""

    source: SourceId
    reply: Reply[SourceView]


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that is known about a source or a text in it, as a sentence; `event` is the id of the event meant."""

    kind: ReasonKind
    says: str
    at: Millis | None = None
    event: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Explained:
    """The answer to ExplainSource: what is known, what answers best first, and how the watching stands."""

    view: SourceView
    reasons: Sequence[Reason]
    state: str


@dataclass(frozen=True, slots=True)
class ExplainSource:
    """Say why a text was not told, or how the last looks went when there is none. Fails with NotFound.

    look: look again now too, if politeness allows.
    """

    source: SourceId
    reply: Reply[Explained]
    text: str = ""
    look: bool = False


@dataclass(frozen=True, slots=True)
class HealthPart:
    """One of the things that a score is made of: the part of it that is left (1.0: it costs nothing), and why."""

    cause: Cause
    left: float
    says: str


@dataclass(frozen=True, slots=True)
class Examined:
    """The answer to ExamineSource. `next_look`: why it is when it is. `gap`: seconds from one change to the next, None
    when too little is known.
    """

    view: SourceView
    health: Sequence[HealthPart]
    next_look: str
    gap: float | None


@dataclass(frozen=True, slots=True)
class ExamineSource:
    """Say what a source's score is made of, and why the next look is when it is. Fails with NotFound."""

    source: SourceId
    reply: Reply[Examined]


@dataclass(frozen=True, slots=True)
class ListSources:
    """Return a page of sources, worst health first: by flag, score and id after the given place, which a page gave.

    where: only these. All sources are walked over for a rare one, with turns for everybody else.
    """

    limit: int
    reply: Reply[SourcePage]
    after: tuple[int, float, str, int] | None = None
    where: Picked = ALL


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page of sources; `next_after` is None at the end. `census`: how many of all have which flag, or are paused."""

    views: Sequence[SourceView]
    next_after: tuple[int, float, str, int] | None
    census: Mapping[str, int] = field(default_factory=dict)


RegistryMessage = (
    AddSource
    | DetectUrl
    | PreviewSource
    | EditSource
    | Teach
    | DeleteSource
    | CheckNow
    | ShowPractice
    | ChangePractice
    | EndPractice
    | DescribeSource
    | ExplainSource
    | ExamineSource
    | ListSources
)

# --- to a source -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LookNow:
    """Look as soon as politeness allows."""


SourceMessage = LookNow
