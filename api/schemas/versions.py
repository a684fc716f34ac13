"""Wire shapes of a page's versions, of two compared, and of pictures."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from api.schemas.sources import Time
from storage.records.event import Context, Spans
from storage.records.picture import Side

_VERSION = "The `version` of one that is kept, from `GET /v1/sources/{id}/versions`"
_Id = Annotated[str, Meta(max_length=40)]


class CompareQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """The versions to compare, in any order, and the amount of text."""

    from_: Annotated[_Id, Meta(description=f"{_VERSION}; by default the one before `to`.", examples=["start"])] = ""
    to: Annotated[_Id, Meta(description=f"{_VERSION}; by default the newest.", examples=["now"])] = ""
    show: Annotated[
        Literal["changes", "text"],
        Meta(description="Only what differs, or that in the whole text.", examples=["text"]),
    ] = "changes"


class KeptVersion(Struct, frozen=True, kw_only=True):
    """A version of a page. `version`: the id of the event that told it; `start` is what stood there before the oldest
    change, `now` what is watched now without an event. `kept`: all watched texts (`whole`), the `main_text` that its
    event carries, or only a `part`.
    """

    version: str
    at: Time | None
    event_id: str | None
    says: str
    kept: Literal["whole", "main_text", "part"]


class Versions(Struct, frozen=True, kw_only=True):
    """The kept versions of a source, newest first; none of what is no page."""

    id: str
    versions: tuple[KeptVersion, ...]


class VersionStep(Struct, frozen=True, kw_only=True):
    """A text that came (`insert`), went (`delete`), was altered (`replace`) or stayed (`keep`), and where it stands.

    `spans` are the words that differ; absent where the two texts have too little in common.
    """

    op: Literal["insert", "delete", "replace", "keep"]
    before: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    context: Context | UnsetType = UNSET
    spans: Spans | UnsetType = UNSET


class VersionComparison(Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """What differs between two versions, the earlier one first, in the order of the later one.

    `partial`: it is of the main text only, as the events carry it. `truncated`: there are more steps than these.
    """

    id: str
    from_: KeptVersion
    to: KeptVersion
    partial: bool
    truncated: bool
    steps: tuple[VersionStep, ...]


class ScreenshotQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The side of the change."""

    side: Annotated[
        Side, Meta(description="The page as the event tells it, or as it was pictured last before", examples=["before"])
    ] = "after"
