"""Views in actors' answers: a current source, reasons, pages of a list; and the selection of sources. Pure.

Lists of feeds as feed readers exchange them (OPML): the records of one, and the library written as one. A worker
parses such files (`content/feeds.py`), since they are as hostile as any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Literal, NamedTuple

from msgspec import Struct

from storage.records.event import StandingValues
from storage.records.identity import Millis, SourceId
from storage.records.message import Message
from storage.records.source import OWN_NAMESPACES, Cause, Flag, Source, SourceRuntime, SourceStateName, state_of, tag_of
from storage.records.tiers import SourceType

ReasonKind = Literal[
    "told", "withheld", "due", "failed", "known", "furniture", "outside", "there", "absent", "unasked", "look"
]
"""The finding: reported; withheld; present and due; failed to read; present and known; in furniture, or outside the
watched part; there at the first check; absent; not requested (push); a check's result."""


class TestResult(Struct, frozen=True):
    """The result of a test delivery."""

    result: str
    status_code: int | None
    latency_ms: int
    detail: str
    said: str = ""
    """The beginning of the response, control characters escaped."""
    retried: int = 0  # waiting deliveries that a good test makes due now


class PushView(Struct, frozen=True):
    """The totals of a push source's connections since the start. `connected_since` None: not connected. Each frame also
    counts as admitted, duplicate, filtered (matches no query) or unreadable.
    """

    connected_since: Millis | None = None
    subprotocol: str | None = None
    connections: int = 0
    frames: int = 0
    admitted: int = 0
    duplicates: int = 0
    filtered: int = 0
    unreadable: int = 0


class SourceView(Struct, frozen=True):
    """A current source: its settings, and the live memory of its actor."""

    source: Source
    hot: SourceRuntime
    overdue: bool = False
    queue_position: int = 0
    """How many checks wait for its host before its own; 0 without any, or if it does not wait."""
    push: PushView | None = None
    headers_from: SourceId | None = None
    """The lender of its headers, if they are not its own."""
    inheriting: Source | None = None
    """The source with settings inherited from tags; see `actors/inheritance.py`. None: nothing."""
    private: bool = False
    """Its events are for its owner: it is checked with headers, or in an opened network."""

    @property
    def effective(self) -> Source:
        return self.inheriting or self.source

    @property
    def state(self) -> SourceStateName:
        return state_of(self.source, self.hot, overdue=self.overdue)


class AddedSource(Struct, frozen=True):
    """The answer to AddSource; `created` is False when the URL was already watched."""

    view: SourceView
    created: bool


class TeachResult(Struct, frozen=True):
    """The answer to Teach: how many blocks were added to the learned churn, or removed."""

    view: SourceView
    blocks: int


class PracticeChange(Struct, frozen=True):
    """The answer to ChangePractice: the source, and the change as a sentence."""

    view: SourceView
    says: str


class Reason(Struct, frozen=True):
    """One fact about a source or a text in it, as a sentence; `event` is the id of the related event."""

    kind: ReasonKind
    says: Message
    at: Millis | None = None
    event: str | None = None
    text: str = ""


class ReportedBlock(NamedTuple):
    """A text of a page. row, column: its place in a table. aside: it is furniture, or a control."""

    text: str
    heading: bool
    item: bool
    aside: bool
    row: str
    column: str


class ReportedPage(NamedTuple):
    """A page as last reported. more: blocks with stored keys only. untold: blocks that came or went unreported."""

    blocks: Sequence[ReportedBlock]
    more: int
    untold: int
    standing: StandingValues = StandingValues()


class SourceExplanation(Struct, frozen=True):
    """The answer to ExplainSource: the reasons, best first, and the state of watching."""

    view: SourceView
    reasons: Sequence[Reason]
    state: Message


class HealthPart(Struct, frozen=True):
    """One factor of a score: its value (1.0 costs nothing) and the reason."""

    cause: Cause
    left: float
    says: Message


class SourceExamination(Struct, frozen=True):
    """The answer to ExamineSource. `next_look`: the reason for its time. `gap`: seconds between changes or None."""

    view: SourceView
    health: Sequence[HealthPart]
    next_look: Message
    gap: float | None


class SourcePage(Struct, frozen=True):
    """A page of sources; `next_after` is None at the end. `census`: how many of all are in each state."""

    views: Sequence[SourceView]
    next_after: tuple[int, float, str, int] | None
    census: Mapping[SourceStateName, int] = {}


class SourceSelection(Struct, frozen=True):
    """Conditions on sources. All set ones must hold; of one condition any value suffices, but of `words` all must
    match. tags: one that ends with "/*" or ":*" covers all below it; "news/*" covers `news` too. words: parts of the
    URL, the title or a tag, in any case. flags: of the health of sources that are not paused.
    """

    words: tuple[str, ...] = ()
    states: tuple[SourceStateName, ...] = ()
    flags: tuple[Flag, ...] = ()
    tags: tuple[str, ...] = ()
    kinds: tuple[SourceType, ...] = ()
    private: bool = False

    def __bool__(self) -> bool:
        return bool(self.words or self.states or self.flags or self.tags or self.kinds or self.private)


SourceSort = Literal["worst", "name", "-name", "changed", "-changed", "next", "-next", "added", "-added"]
"""The order of a list: worst health, name, last change, next check, newest; a minus reverses it."""

ALL = SourceSelection()

LABEL = "label"  # the namespace of plain tags


def matches(where: SourceSelection, view: SourceView) -> bool:
    source = view.source
    if where.kinds and source.type not in where.kinds:
        return False
    if where.private and not view.private:
        return False
    if where.tags and not any(_has(source, tag_of(tag)) for tag in where.tags):
        return False
    if where.states and view.state not in where.states:
        return False
    if where.flags and (not source.enabled or view.hot.health.flag not in where.flags):
        return False
    if not where.words:
        return True
    text = text_of(source)
    return all(word.casefold() in text for word in where.words)


def _has(source: Source, tag: str) -> bool:
    if not tag.endswith(("/*", ":*")):
        return tag in source.tags
    above, below = tag[:-2], tag[:-1]
    return any(own == above or own.startswith(below) for own in source.tags)


def folders_of(tags: Sequence[str]) -> set[str]:
    """Return tags and the conditions above them: "news/*" for "news/sweden" and "news", "topic:*" for "topic:ai"."""
    found = set[str]()
    for tag in tags:
        found.add(tag)
        space, _, words = tag.partition(":")
        if space != LABEL:
            found.add(f"{space}:*")
        parts = words.split("/")
        found.update(f"{space}:{'/'.join(parts[:end])}/*" for end in range(1, len(parts) + 1))
    return found


def text_of(source: Source) -> str:
    """Return the lower-case text that finds a source: its URL, both titles and its tags."""
    return "\n".join((source.url, source.title, source.found_title, *source.tags)).casefold()


MEDIA = "text/x-opml; charset=utf-8"


class FeedLine(Struct, frozen=True):
    """One feed of a list. `tags` are its folders and categories."""

    url: str
    title: str = ""
    tags: tuple[str, ...] = ()


class Outline(Struct, frozen=True):
    """A list of feeds. lists: addresses of further lists, which are not followed. left_out: feeds beyond the limit."""

    title: str
    feeds: tuple[FeedLine, ...]
    lists: tuple[str, ...] = ()
    left_out: int = 0


def written(sources: Iterable[Source], title: str) -> Iterator[str]:
    """Yield the OPML piece by piece. Labels become categories; the service's own tags are left out. Pages and
    WebSockets get an `xmlUrl` too, so that Sanderling can import the list again.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0">\n'
    yield f"<head><title>{escape(_plain(title), quote=False)}</title></head>\n<body>\n"
    for source in sources:
        words = [tag.removeprefix("label:") for tag in source.tags if tag.partition(":")[0] not in OWN_NAMESPACES]
        joined = ",".join(_plain(word).replace(",", " ").replace("/", " ") for word in words)
        category = f' category="{escape(joined)}"' if words else ""
        text, url = escape(_plain(source.called)), escape(_plain(source.url))
        yield f'<outline type="{source.tier.outline}" text="{text}" xmlUrl="{url}"{category}/>\n'
    yield "</body>\n</opml>\n"


def _plain(text: str) -> str:
    """Return one line of text, without characters that XML 1.0 can't hold."""
    return "".join(sign for sign in " ".join(text.split()) if sign.isprintable())
