"""Wire shapes of tags and their defaults."""

from __future__ import annotations

from msgspec import Struct

from api.schemas.sources import Revision, Time, UpdatedBy
from storage.records.managed import Managed


class TagDefaultsRecord(Struct, frozen=True, kw_only=True):
    """What the sources of a tag inherit; null and [] say nothing of a setting. `destinations`: of each of these a new
    alert over the tag gets a copy.
    """

    schedule: str | None
    hours: str | None
    bar: float | None
    selector: str | None
    ignore: tuple[str, ...]
    destinations: tuple[str, ...]
    updated_at: Time
    revision: Revision
    updated_by: UpdatedBy
    managed: Managed | None


class TagRecord(Struct, frozen=True, kw_only=True):
    """A tag. `sources`: how many have it; `sources_below`: how many have it or one below it, as `news/se` is of `news`.
    `defaults` null: it has none.
    """

    tag: str
    sources: int
    sources_below: int
    defaults: TagDefaultsRecord | None
