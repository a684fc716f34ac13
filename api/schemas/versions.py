"""Wire shapes of a page's versions, their comparison, and screenshots."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.messages.declaring import Time
from storage.records.event import Context, Spans
from storage.records.picture import Side

_VERSION = "The `version` of a stored version, from `GET /v1/sources/{id}/versions`"
_Id = Annotated[str, Meta(max_length=40)]


class CompareQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """The versions to compare, in any order, and the amount of text."""

    from_: Annotated[_Id, Meta(description=f"{_VERSION}; by default the one before `to`.", examples=["start"])] = ""
    to: Annotated[_Id, Meta(description=f"{_VERSION}; by default the newest.", examples=["now"])] = ""
    show: Annotated[
        Literal["changes", "text"],
        Meta(description="Only the differences, or the whole text with them.", examples=["text"]),
    ] = "changes"


class KeptVersion(Struct, frozen=True, kw_only=True):
    """A version of a page. `version`: the id of its event; `start` is the state before the oldest change, `now` the
    present state if it has no event. `kept`: all watched texts (`whole`), the `main_text` of its event, or only a
    `part`.
    """

    version: str
    at: Time | None
    event_id: str | None
    says: str
    kept: Literal["whole", "main_text", "part"]


class Versions(Struct, frozen=True, kw_only=True):
    """The stored versions of a page, newest first; empty for other sources."""

    id: str
    versions: tuple[KeptVersion, ...]


class VersionStep(Struct, frozen=True, kw_only=True):
    """A text that was added (`insert`), removed (`delete`), changed (`replace`) or stayed (`keep`), and its place.

    `spans`: the differing words; absent if the two texts have too little in common.
    """

    op: Literal["insert", "delete", "replace", "keep"]
    before: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    context: Context | UnsetType = UNSET
    spans: Spans | UnsetType = UNSET


class VersionComparison(Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """The differences between two versions, from the earlier to the later, in the later one's order.

    `partial`: it compares only the main texts of the events. `truncated`: there are more steps than these.
    """

    id: str
    from_: KeptVersion
    to: KeptVersion
    partial: bool
    truncated: bool
    steps: tuple[VersionStep, ...]


class ScreenshotQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The screenshot to return."""

    side: Annotated[
        Side, Meta(description="The page at the event, or the last screenshot before it", examples=["before"])
    ] = "after"
