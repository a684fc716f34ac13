"""Two versions of a page with their differences, on a screen that prints as evidence."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from actors.errors import Conflict
from api.dashboard.difference import of_steps
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import say
from api.dashboard.lists import address
from api.dashboard.screen import Page, Screen, Visit
from api.dashboard.sources import words
from api.operations import sources, versions
from api.operations.versions import NOW, START, Version

PATH: Final = "/sources/{id}/compare"
MOST_STEPS: Final = 2_000
"""Texts to show, to limit the page's size."""
_Id = Annotated[str, Meta(max_length=40)]


class CompareQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """The versions, in any order; by default the newest two. show: only the differences, or the whole text."""

    from_: _Id = ""
    to: _Id = ""
    show: Literal["", "text"] = ""


async def show(visit: Visit) -> Page:
    """Show the differences between two versions. Raises NotFound."""
    query: CompareQuery = visit.query
    view = await sources.view(visit, visit.path["id"])
    kept = await versions.versions(visit, view.source.id)
    name = words.name_of(view.source)
    one, other = versions.chosen(kept, query.from_, query.to)
    shows = {
        "id": view.source.id,
        "name": name,
        "url": view.source.watch_url,
        "options": [(each.id, _called(visit, each)) for each in kept],
        "from_": one,
        "to": other,
        "whole_text": query.show == "text",
        "trouble": "",
    }
    if one == other:
        return Page("sources/compare.html", say("Versions of %(name)s", name=name), shows)
    try:
        found = await versions.compare(visit, view.source.id, one, other)
    except Conflict as error:
        return Page(
            "sources/compare.html", say("Versions of %(name)s", name=name), shows | {"trouble": translated(str(error))}
        )
    changes = [step for step in found.steps if not step.same]
    own = f"/sources/{view.source.id}/compare"
    asked = {"from": found.earlier.id, "to": found.later.id}
    shows |= {
        "from_": found.earlier.id,
        "to": found.later.id,
        "earlier": found.earlier,
        "later": found.later,
        "partial": found.partial,
        "count": len(changes),
        "lines": of_steps(found.steps if query.show else changes, MOST_STEPS),
        "only": address(own, **asked),
        "all": address(own, **asked, show="text"),
        "address": visit.context.settings.public_url() + address(own, **asked, show=query.show),
    }
    return Page("sources/compare.html", say("Versions of %(name)s", name=name), shows)


def _called(visit: Visit, version: Version) -> str:
    if version.id == NOW:
        return say("As it is watched now")
    if version.id == START:
        return say("Before the oldest change that is kept")
    return f"{visit.moment(version.at).full}: {version.says}"[:140]


SCREENS = (Screen(path=PATH, run=show, query=CompareQuery),)
