"""An example of practice."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from actors import practice
from actors.practice import address
from api.openapi.example_records import HERE, SOURCE
from api.v1.practice import PracticeChange, PracticeRecord

_SOURCE = replace(
    SOURCE,
    url=address(HERE, "page"),
    detection=replace(SOURCE.detection, final_url=address(HERE, "page")),
    tags=("practice:page",),
    selector=None,
    ignore=(),
    schedule="7d",
)
RECORD = PracticeRecord("page", 1, _SOURCE)
CHANGE = PracticeChange("page", practice.page_change(1), _SOURCE, f"/v1/stream?source={_SOURCE.id}")

ALL: tuple[Struct, ...] = (RECORD, CHANGE)
