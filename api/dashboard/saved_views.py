"""Saved views: a list's filters under a name, shown next to the list in every browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

from actors.errors import NotFound
from api.dashboard.forms import Form, Wrong
from api.dashboard.language.speaking import say
from api.dashboard.screen import Go, Screen, Visit
from storage.records.session import Place, SavedView

MOST: Final = 50
"""Views of all lists together."""
MOST_NAME: Final = 80
MOST_QUERY: Final = 2_000
_FILTERS: Final[Mapping[Place, tuple[str, ...]]] = {
    "sources": ("q", "state", "health", "kind", "tag", "sort", "size"),
    "stream": ("keyword", "tag", "source", "source_type"),
}


class SaveView(Form, frozen=True):
    """A name for the list's present filters. An existing name gets the new filters."""

    place: str = ""
    name: str = ""
    query: str = ""


class Shown(NamedTuple):
    """A view next to its list. current: the list has these filters now."""

    id: str
    name: str
    path: str
    current: bool


def filters(place: Place, query: str) -> str:
    """Return a list's filters from a query, normalised.

    >>> filters("stream", "after=x&tag=a%20b&keyword=")
    'tag=a+b'
    """
    asked = dict(parse_qsl(query))
    return urlencode([(name, asked[name]) for name in _FILTERS[place] if asked.get(name)])


async def views_of(visit: Visit, place: Place) -> list[Shown]:
    """Return the views of a list, by name."""
    here = filters(place, visit.target.partition("?")[2])
    views = sorted((v for v in await visit.context.storage.saved_views.all() if v.place == place), key=_by_name)
    return [Shown(view.id, view.name, f"/{place}?{view.query}", view.query == here) for view in views]


def _by_name(view: SavedView) -> tuple[str, str]:
    return view.name.casefold(), view.id


async def save(visit: Visit) -> Go:
    form: SaveView = visit.form
    place = next((place for place in _FILTERS if place == form.place), None)
    if place is None:
        raise Wrong(say("There are no views of this list."))
    query, name, store = filters(place, form.query), form.name[:MOST_NAME], visit.context.storage.saved_views
    if not query or len(query) > MOST_QUERY:
        return Go(f"/{place}", say("Nothing was saved: choose filters first."), bad=True)
    if not name:
        return Go(f"/{place}?{query}", say("Nothing was saved: type a name for the view."), bad=True)
    everyone = await store.all()
    same = next((view for view in everyone if (view.place, view.name) == (place, name)), None)
    if same is None and len(everyone) >= MOST:
        says = say("Nothing was saved: there are %(count)s views. Delete one first.", count=MOST)
        return Go(f"/{place}?{query}", says, bad=True)
    id = visit.context.world.new_id() if same is None else same.id
    await store.put(SavedView(id, place, name, query, visit.now if same is None else same.created_at))
    return Go(f"/{place}?{query}", say("Saved as “%(name)s”.", name=name))


async def not_saved(visit: Visit) -> Go:
    """Return to the list with its filters, and report why nothing was saved."""
    typed = visit.draft
    asked = typed.value("place")
    place: Place = "stream" if asked == "stream" else "sources"
    query = filters(place, typed.value("query"))
    return Go(f"/{place}?{query}", say("Nothing was saved: %(reason)s", reason=typed.says), bad=True)


async def delete(visit: Visit) -> Go:
    store = visit.context.storage.saved_views
    there = next((view for view in await store.all() if view.id == visit.path["id"]), None)
    if there is None or not await store.delete(there.id):
        raise NotFound(say("There is no such view any more."))
    return Go(f"/{there.place}?{there.query}", say("The view “%(name)s” is deleted.", name=there.name))


SCREENS = (
    Screen(method="POST", path="/views", run=save, form=SaveView, again=not_saved),
    Screen(method="POST", path="/views/{id}/delete", run=delete, form=Form),
)
