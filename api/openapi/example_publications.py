"""An example of a publication."""

from __future__ import annotations

from msgspec import Struct

from api.openapi.example_records import HERE, MADE
from api.schemas import publications as wire

_URL = f"{HERE}/published/Zk3hQw8mXr1tVbN5cYp7Ls0dUe2gJa4f"
PUBLICATION = wire.PublicationRecord(
    id="019db0a4-a060-7000-8000-0000000000f1",
    title="Prices",
    source_ids=(),
    tags=("prices",),
    channel=None,
    alert_ids=(),
    private_source_ids=(),
    url=_URL,
    feeds=wire.FeedAddresses(atom=f"{_URL}.atom", rss=f"{_URL}.rss", json=f"{_URL}.json"),
    created_at=MADE,
    updated_at=MADE,
    revision="5b0e6a3c9f214d775b0e6a3c",
    updated_by="guide",
    managed=None,
)

ALL: tuple[Struct, ...] = (PUBLICATION,)
