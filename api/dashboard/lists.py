"""Lists on pages: slices of complete lists, the paths of pages, active filters, and saved views of filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Generic, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode

from msgspec import Meta, Struct

from actors.errors import NotFound
from actors.language.speaking import say
from api.dashboard.forms import Form, InvalidForm
from api.dashboard.screen import Go, Screen, Visit, post
from api.pagination import Dated
from storage.records.access import Place, SavedView

R = TypeVar("R", bound=Dated)
T = TypeVar("T")


class ListSlice(NamedTuple, Generic[R]):
    """A slice of a list. start: its first row's index. last: the id that the next slice follows, "" at the end."""

    rows: Sequence[R]
    start: int
    last: str


def part(rows: Sequence[R], after: str, most: int) -> ListSlice[R]:
    start = next((at for at, row in enumerate(rows, 1) if row.id == after), 0)
    shown = rows[start : start + most]
    return ListSlice(shown, start, shown[-1].id if start + len(shown) < len(rows) else "")


class PageQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The page number, from 1."""

    page: Annotated[int, Meta(ge=1, le=1000)] = 1


def numbered(rows: Sequence[T], page: int, most: int, path: str) -> tuple[Sequence[T], dict[str, Any]]:
    start = (page - 1) * most
    following = f"{path}?page={page + 1}" if start + most < len(rows) else ""
    pager = {"count": len(rows), "next": following, "previous": f"{path}?page={page - 1}" if start else ""}
    return rows[start : start + most], pager


def address(path: str, **asked: str | int | None) -> str:
    """Return a path with a query.

    >>> address("/alerts", q="a b", after=""), address("/alerts", after=None)
    ('/alerts?q=a+b', '/alerts')
    """
    text = urlencode({name: value for name, value in asked.items() if value not in (None, "")})
    return f"{path}?{text}" if text else path


class Chip(NamedTuple):
    """An active filter: its name, its value, and the list's path without it. typed: entered by a person."""

    name: str
    value: str
    without: str
    typed: bool = False


def chips(path: str, asked: Mapping[str, str], named: Iterable[tuple[str, str, str]]) -> list[Chip]:
    """Return the active filters. named: each parameter, its label, and its value as text.

    >>> chips("/alerts", {"q": "a", "state": "on"}, [("q", "Words", "a"), ("tag", "Tag", "")])
    [Chip(name='Words', value='a', without='/alerts?state=on', typed=True)]
    """
    found = []
    for parameter, name, words in named:
        if asked.get(parameter):
            others = {key: value for key, value in asked.items() if key != parameter}
            found.append(Chip(name, words, address(path, **others), typed=words == asked[parameter]))
    return found


MOST_VIEWS: Final = 50  # views of all lists together
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


def filters(place: Place, query: str) -> str:
    """Return a list's filters from a query, normalised.

    >>> filters("stream", "after=x&tag=a%20b&keyword=")
    'tag=a+b'
    """
    asked = dict(parse_qsl(query))
    return urlencode([(name, asked[name]) for name in _FILTERS[place] if asked.get(name)])


async def views_of(visit: Visit, place: Place) -> list[dict[str, Any]]:
    here = filters(place, visit.target.partition("?")[2])
    views = [view for view in await visit.context.storage.saved_views.all() if view.place == place]
    return [
        {"id": view.id, "name": view.name, "path": f"/{place}?{view.query}", "current": view.query == here}
        for view in sorted(views, key=lambda view: (view.name.casefold(), view.id))
    ]


async def save_view(visit: Visit) -> Go:
    form: SaveView = visit.form
    place = next((place for place in _FILTERS if place == form.place), None)
    if place is None:
        raise InvalidForm(say("There are no views of this list."))
    query, name, store = filters(place, form.query), form.name[:MOST_NAME], visit.context.storage.saved_views
    if not query or len(query) > MOST_QUERY:
        return Go(f"/{place}", say("Nothing was saved: choose filters first."), bad=True)
    if not name:
        return Go(f"/{place}?{query}", say("Nothing was saved: type a name for the view."), bad=True)
    everyone = await store.all()
    same = next((view for view in everyone if (view.place, view.name) == (place, name)), None)
    if same is None and len(everyone) >= MOST_VIEWS:
        says = say("Nothing was saved: there are %(count)s views. Delete one first.", count=MOST_VIEWS)
        return Go(f"/{place}?{query}", says, bad=True)
    id = visit.context.world.new_id() if same is None else same.id
    await store.put(SavedView(id, place, name, query, visit.now if same is None else same.created_at))
    return Go(f"/{place}?{query}", say("Saved as “%(name)s”.", name=name))


async def not_saved(visit: Visit) -> Go:
    typed = visit.draft
    asked = typed.value("place")
    place: Place = "stream" if asked == "stream" else "sources"
    query = filters(place, typed.value("query"))
    return Go(f"/{place}?{query}", say("Nothing was saved: %(reason)s", reason=typed.says), bad=True)


async def delete_view(visit: Visit) -> Go:
    store = visit.context.storage.saved_views
    there = next((view for view in await store.all() if view.id == visit.path["id"]), None)
    if there is None or not await store.delete(there.id):
        raise NotFound(say("This view no longer exists."))
    return Go(f"/{there.place}?{there.query}", say("The view “%(name)s” is deleted.", name=there.name))


SCREENS: tuple[Screen, ...] = (
    post("/views", save_view, SaveView, not_saved),
    post("/views/{id}/delete", delete_view, Form),
)
