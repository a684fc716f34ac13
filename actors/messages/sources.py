"""Messages to the registry of sources, and to a source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from actors.messages import views
from actors.messages.requests import DetectRequest, NewSource, Preview, Previewed, SourcePatch, TagSettings
from actors.practice import PracticeKind
from storage.records.identity import Millis, SourceId
from storage.records.revision import Expected
from storage.records.source import TagDefaults
from supervision import Reply


class AddSource(Struct, frozen=True):
    """Classify a URL and watch it. Fails with UrlRefused, Unprocessable (not watchable), Overloaded, LibraryFull. mark:
    the service's own tags, also added to an existing source. With `verify="later"` an unreachable URL is added too, but
    never one that the guard or robots.txt refuses. by: the caller. reads: the caller may read sources, so the first
    check may borrow headers.
    """

    new: NewSource
    reply: Reply[views.AddedSource]
    mark: tuple[str, ...] = ()
    by: str = ""
    reads: bool = False


class DetectUrl(Struct, frozen=True):
    """Classify without adding, and preview. Fails as AddSource does. reads: may borrow headers, for their origin."""

    request: DetectRequest
    reply: Reply[Previewed]
    reads: bool = False


class OfSource(Struct, frozen=True):
    """A message that names a source."""

    source: SourceId


class PreviewSource(OfSource, frozen=True):
    """Preview another part of a source's page. Fails with NotFound, Unprocessable, TooSoon, Overloaded."""

    selector: str | None
    ignore: tuple[str, ...]
    reply: Reply[Preview]


class PageQuestion(ABC):
    """A question of an extra about a page, answered where URLs are previewed. It stores and changes nothing."""

    __slots__ = ()
    reply: Reply[Any]

    @abstractmethod
    async def answer(self, previewer: Any) -> object:
        """Answer with the help of the registry's Previewer; no room below it may name its type."""


class UrlQuestion(PageQuestion):
    """About the page of a URL, without adding it. Fails as DetectUrl does."""

    __slots__ = ()
    request: DetectRequest


class SourceQuestion(PageQuestion):
    """About a source's current page. Fails as PreviewSource does."""

    __slots__ = ()
    source: SourceId


class EditSource(OfSource, frozen=True):
    """Edit a source; its actor restarts with the same memory. Fails with NotFound, Unprocessable, Stale."""

    patch: SourcePatch
    reply: Reply[views.SourceView]
    expected: Expected = None
    by: str = ""


class Teach(OfSource, frozen=True):
    """Add blocks of a page, by their texts, to the source's learned churn, or remove them. Fails as EditSource does."""

    texts: tuple[str, ...]
    noise: bool
    reply: Reply[views.TeachResult]


class DeleteSource(OfSource, frozen=True):
    """Stop watching, and delete the source after a rest (`RESTS`); its events stay. Fails with NotFound, Stale."""

    reply: Reply[None]
    expected: Expected = None


class RestoreSource(Struct, frozen=True):
    """Restore a resting deleted source. Fails with NotFound, Conflict (its URL is watched again), LibraryFull."""

    source: SourceId
    reply: Reply[views.SourceView]


class CheckNow(OfSource, frozen=True):
    """Check now; the answer is the due time. Fails with NotFound, Conflict (paused), TooSoon."""

    reply: Reply[Millis]


class ShowPractice(Struct, frozen=True):
    """Return the practice sources; with `start`, make the missing ones. Fails with Conflict."""

    reply: Reply[Sequence[views.SourceView]]
    start: bool = False


class ChangePractice(Struct, frozen=True):
    """Change a practice document, made if missing, and check it at once. Fails with TooSoon, Conflict."""

    what: PracticeKind
    reply: Reply[views.PracticeChange]


class EndPractice(Struct, frozen=True):
    """Delete the practice sources; their events stay."""

    reply: Reply[None]


class DescribeSource(OfSource, frozen=True):
    """Return one source's current view. Fails with NotFound."""

    reply: Reply[views.SourceView]


class ExplainSource(OfSource, frozen=True):
    """Explain why a text was not reported, or without one, how the last checks went. Fails with NotFound."""

    reply: Reply[views.SourceExplanation]
    text: str = ""
    check_now: bool = False


class GetReportedPage(OfSource, frozen=True):
    """Return a page as last reported; None for other tiers or an unread page. Fails with NotFound."""

    reply: Reply[views.ReportedPage | None]
    values: bool = False


class ExamineSource(OfSource, frozen=True):
    """Explain a source's score and the time of its next check. Fails with NotFound."""

    reply: Reply[views.SourceExamination]


class ListSources(Struct, frozen=True):
    """Return a page of sources, worst health first, after a place from an earlier page. where: a filter. A rare one, or
    another order (`sort`), loops over all sources, in slices.
    """

    limit: int
    reply: Reply[views.SourcePage]
    after: tuple[int, float, str, int] | None = None
    where: views.SourceSelection = views.ALL
    sort: views.SourceSort = "worst"


class SetTagDefaults(Struct, frozen=True):
    """Set all that sources with a tag inherit, or remove it (None); the answer is the tag's new defaults. By then all
    its sources have them, and each replans its next check. Fails with Unprocessable, Stale, NotFound (nothing to
    remove), Conflict (too many).
    """

    tag: str
    settings: TagSettings | None
    reply: Reply[TagDefaults | None]
    expected: Expected = None
    by: str = ""


class CountTags(Struct, frozen=True):
    """Return how many sources have each tag, and how many have one below it: see `selecting.folders_of`."""

    reply: Reply[Mapping[str, int]]


_Change = AddSource | EditSource | Teach | DeleteSource | RestoreSource | SetTagDefaults
_Look = DetectUrl | PreviewSource | UrlQuestion | SourceQuestion | CheckNow
_Question = DescribeSource | ExplainSource | ExamineSource | ListSources | CountTags | GetReportedPage
RegistryMessage = _Change | _Look | _Question | ShowPractice | ChangePractice | EndPractice


class LookNow(Struct, frozen=True):
    """Check as soon as politeness allows."""


class SettingsChanged(Struct, frozen=True):
    """Replan the next check: the inherited settings have changed."""


SourceMessage = LookNow | SettingsChanged
