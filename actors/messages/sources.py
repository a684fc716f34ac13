"""Messages to the registry of sources, and to a source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from actors.messages.requests import DetectRequest, NewSource, SourcePatch, TagSettings
from actors.messages.views import (
    AddedSource,
    PracticeChange,
    SourceExamination,
    SourceExplanation,
    SourcePage,
    SourceView,
    TeachResult,
    ToldPage,
)
from actors.picks import Picked, PickWish
from actors.practice.documents import What
from actors.previews import Preview, Previewed
from actors.selection import ALL, SourceSelection, SourceSort
from storage.records.identity import Millis, SourceId
from storage.records.revision import Expected
from storage.records.tag_defaults import TagDefaults
from supervision import Reply


@dataclass(frozen=True, slots=True)
class AddSource:
    """Classify a URL and watch it. Fails with UrlRefused, Unprocessable (not watchable), Overloaded, LibraryFull.

    mark: tags that are the service's own; the source gets them also when it is watched already. With `verify="later"` a
    URL that can't be looked at now is added, too; never one that the guard or robots.txt refuses. by: who asks. reads:
    whether who asks may read sources, so that the first look may borrow headers.
    """

    new: NewSource
    reply: Reply[AddedSource]
    mark: tuple[str, ...] = ()
    by: str = ""
    reads: bool = False


@dataclass(frozen=True, slots=True)
class DetectUrl:
    """Classify without adding, and show what watching would tell. Fails as AddSource does.

    reads: who asks may read sources; only then are headers borrowed, at the lender's own origin.
    """

    request: DetectRequest
    reply: Reply[Previewed]
    reads: bool = False


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
class PickFromUrl:
    """Show the blocks of a URL's page to choose from, without adding it. `reads`, failures: as of DetectUrl."""

    request: DetectRequest
    wish: PickWish
    reply: Reply[Picked]
    reads: bool = False


@dataclass(frozen=True, slots=True)
class PickFromSource:
    """Show the blocks of a source's page to choose from, as it is now. Fails as PreviewSource does."""

    source: SourceId
    wish: PickWish
    reply: Reply[Picked]


@dataclass(frozen=True, slots=True)
class EditSource:
    """Change a source; its actor starts anew with the same memory. Fails with NotFound, Unprocessable, Stale.

    by: who asks.
    """

    source: SourceId
    patch: SourcePatch
    reply: Reply[SourceView]
    expected: Expected = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Teach:
    """Take blocks of a page, by their texts, into the source's noise, or out of it. Fails as EditSource does."""

    source: SourceId
    texts: tuple[str, ...]
    noise: bool
    reply: Reply[TeachResult]


@dataclass(frozen=True, slots=True)
class DeleteSource:
    """Stop watching, and forget after a rest (`RESTS`); the events stay. Fails with NotFound, Stale."""

    source: SourceId
    reply: Reply[None]
    expected: Expected = None


@dataclass(frozen=True, slots=True)
class RestoreSource:
    """Have a deleted source back that still rests. Fails with NotFound, Conflict (its URL is watched again),
    LibraryFull.
    """

    source: SourceId
    reply: Reply[SourceView]


@dataclass(frozen=True, slots=True)
class CheckNow:
    """Look now; the answer is when the look is due. Fails with NotFound, Conflict (paused), TooSoon."""

    source: SourceId
    reply: Reply[Millis]


@dataclass(frozen=True, slots=True)
class ShowPractice:
    """Return the practice sources that there are; with `start`, make those that lack. Fails with Conflict."""

    reply: Reply[Sequence[SourceView]]
    start: bool = False


@dataclass(frozen=True, slots=True)
class ChangePractice:
    """Change a practice document, which is made if it lacks, and look at it at once. Fails with TooSoon, Conflict."""

    what: What
    reply: Reply[PracticeChange]


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
class ExplainSource:
    """Say why a text was not told, or how the last looks went when there is none. Fails with NotFound.

    look: look again now too, if politeness allows.
    """

    source: SourceId
    reply: Reply[SourceExplanation]
    text: str = ""
    look: bool = False


@dataclass(frozen=True, slots=True)
class ShowTold:
    """Show a page as it was last told; None of what is no page, or has not been read. Fails with NotFound.

    values: with the values that stand in it, which a worker reads.
    """

    source: SourceId
    reply: Reply[ToldPage | None]
    values: bool = False


@dataclass(frozen=True, slots=True)
class ExamineSource:
    """Say what a source's score is made of, and why the next look is when it is. Fails with NotFound."""

    source: SourceId
    reply: Reply[SourceExamination]


@dataclass(frozen=True, slots=True)
class ListSources:
    """Return a page of sources, worst health first: by flag, score and id after the given place, which a page gave.

    where: only these. All sources are walked over for a rare one, and for another order (`sort`), with turns for
    everybody else.
    """

    limit: int
    reply: Reply[SourcePage]
    after: tuple[int, float, str, int] | None = None
    where: SourceSelection = ALL
    sort: SourceSort = "worst"


@dataclass(frozen=True, slots=True)
class SetTagDefaults:
    """Set what sources with a tag inherit, all of it, or take it away (None); the answer is what the tag has then.

    All its sources follow by then, and each plans its next look anew. Fails with Unprocessable, Stale, NotFound
    (nothing to take away), Conflict (no room). by: who asks.
    """

    tag: str
    settings: TagSettings | None
    reply: Reply[TagDefaults | None]
    expected: Expected = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class CountTags:
    """Return how many sources have each tag, and how many have one below it: see `selecting.folders_of`."""

    reply: Reply[Mapping[str, int]]


RegistryMessage = (
    AddSource
    | DetectUrl
    | PreviewSource
    | PickFromUrl
    | PickFromSource
    | EditSource
    | Teach
    | DeleteSource
    | RestoreSource
    | CheckNow
    | ShowPractice
    | ChangePractice
    | EndPractice
    | DescribeSource
    | ExplainSource
    | ExamineSource
    | ListSources
    | CountTags
    | SetTagDefaults
    | ShowTold
)


OfOneSource = (
    CheckNow
    | DeleteSource
    | DescribeSource
    | EditSource
    | ExamineSource
    | ExplainSource
    | PickFromSource
    | PreviewSource
    | ShowTold
    | Teach
)
"""Questions that name a source."""


@dataclass(frozen=True, slots=True)
class LookNow:
    """Look as soon as politeness allows."""


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """Plan the next look anew: what the source inherits is something else now."""


SourceMessage = LookNow | SettingsChanged
