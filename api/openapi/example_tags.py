"""An example of a tag with defaults."""

from __future__ import annotations

from msgspec import Struct

from api.openapi.example_records import MADE
from api.schemas import sources as wire

TAG = wire.TagRecord(
    tag="label:prices",
    sources=500,
    sources_below=512,
    defaults=wire.TagDefaultsRecord(
        schedule="15m",
        hours="weekdays 08-18 Europe/Stockholm",
        bar=0.4,
        selector=None,
        ignore=("nav", ".visitors-online"),
        destinations=(),
        updated_at=MADE,
        revision="5b0e6a3c9f214d775b0e6a3c",
        updated_by="guide",
        managed=None,
    ),
)

ALL: tuple[Struct, ...] = (TAG,)
