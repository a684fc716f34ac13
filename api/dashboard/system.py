"""System: readiness, the parts (worst first), sizes, settings."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from msgspec import Meta, Struct

from actors.language.speaking import say
from actors.setting_table import declared
from api.dashboard.drawing import size
from api.dashboard.screen import Page, Screen, Visit
from api.fields.admin import TreeQuery
from api.nouns import admin as operations
from api.streams.streams import overview_of
from storage.records.identity import Millis, millis_of
from storage.records.source import HEALTH, PARTS

ROWS = 50
HEAVIEST = 5


class ShownPart(Struct, frozen=True, forbid_unknown_fields=True):
    """The parts to show, and the start of the page."""

    filter: Annotated[str, Meta(max_length=500)] = ""
    start: Annotated[int, Meta(ge=0, le=10_000_000)] = 0


def settings_of(visit: Visit) -> list[dict[str, str]]:
    rows = []
    for name, setting in declared().items():
        value = _in_words(setting.shown(visit.context.settings), setting.unit)
        origin = visit.context.origins.get(name, "default")
        rows.append({"name": name, "value": value, "origin": origin, "says": setting.says.replace("`", "")})
    return sorted(rows, key=lambda row: row["origin"] == "default")


def _in_words(value: object, unit: str) -> str:
    if unit == "B" and isinstance(value, int):
        return size(value)
    word = (say("no"), say("yes"))[value] if isinstance(value, bool) else str(value)
    shown = ", ".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else word
    return f"{shown} {unit}".strip() if shown else say("none")


async def show(visit: Visit) -> Page:
    wanted: ShownPart = visit.query
    overview = overview_of(visit.context)
    tree = await operations.tree(visit, TreeQuery(filter=wanted.filter, start=wanted.start, limit=ROWS))
    bounds = await visit.context.storage.log.bounds()
    files = visit.context.storage.sizes()
    taken = await operations.sizes(visit, HEAVIEST)
    shows = {
        "overview": overview,
        "tree": tree,
        "wanted": wanted,
        "onward": _place(wanted, tree.start + ROWS) if tree.start + ROWS < tree.total else "",
        "back": _place(wanted, max(0, tree.start - ROWS)) if tree.start else "",
        "states": PARTS,
        "flags": HEALTH,
        "settings": settings_of(visit),
        "data": size(sum(files.values())),
        "wal": size(files.get("wal", 0)),
        "taken": taken,
        "size": size,
        "days": visit.context.settings.retention_days,
        "most": visit.context.settings.retention_events,
        "oldest": Millis(millis_of(bounds.oldest)) if bounds.oldest else None,
    }
    return Page("system.html", say("System"), shows)


def _place(wanted: ShownPart, start: int) -> str:
    return "/system?" + urlencode({"filter": wanted.filter, "start": start}) + "#parts"


SCREENS = (Screen(path="/system", run=show, query=ShownPart),)
