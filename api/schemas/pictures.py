"""Wire shapes of pictures of rendered pages."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from storage.records.picture import Side


class ScreenshotQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The side of the change."""

    side: Annotated[
        Side, Meta(description="The page as the event tells it, or as it was pictured last before", examples=["before"])
    ] = "after"
