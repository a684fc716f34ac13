"""The list of sources: worst first, filtered, page by page, with actions on many at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Literal, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from actors.messages.requests import Schedule, SourcePatch
from actors.messages.views import SourceView
from actors.selection import SourceSelection, SourceSort
from api.cursors import decode_cursor, encode_cursor
from api.dashboard.forms import Form, Wrong
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import noted, say, say_as, say_many
from api.dashboard.lists import Chip, address, chips
from api.dashboard.saved_views import views_of
from api.dashboard.screen import Go, Page, Screen, Visit
from api.dashboard.sessions import own_path
from api.dashboard.sources import inherited, words
from api.dashboard.sources.deleted import MINUTES, RESTING
from api.dashboard.sources.folders import MOST as MOST_FOLDERS
from api.dashboard.sources.folders import folders
from api.dashboard.sources.ticks import Strip, strip
from api.dashboard.undoing import Undo
from api.operations import sources
from api.operations.batches import Failed
from api.operations.context import OperationContext
from storage.records import trail
from storage.records.health import Flag
from storage.records.states import HEALTH, SOURCES, SourceState
from storage.records.tiers import SourceType

SIZES = (30, 100, 200)
"""Page sizes."""
MOST_AT_ONCE = SIZES[-1]
MOST_OF_ALL = 10_000
"""The most sources for one action."""
PATH = "/sources"
_COLUMNS: tuple[tuple[str, tuple[SourceSort, ...]], ...] = (
    (noted("State"), ("worst",)),
    (noted("Source"), ("name", "-name")),
    (noted("Last looks"), ()),
    (noted("Last change"), ("changed", "-changed")),
    (noted("Next look"), ("next", "-next")),
)
"""The columns, and the sort orders that pressing each one cycles through."""
_SAID: dict[SourceSort, str] = {
    "worst": noted("worst health first"),
    "name": noted("by name"),
    "-name": noted("by name, from the end"),
    "changed": noted("by last change, the newest first"),
    "-changed": noted("by last change, the oldest first"),
    "next": noted("by next look, the soonest first"),
    "-next": noted("by next look, the latest first"),
    "added": noted("newest first"),
    "-added": noted("oldest first"),
}
_RISES: frozenset[SourceSort] = frozenset(("name", "next", "-changed", "-added"))
"""The orders with ascending values."""
_Text = Annotated[str, Meta(max_length=200)]
Act = Callable[[OperationContext, str], Awaitable[object]]
Ids = Annotated[tuple[str, ...], Meta(max_length=MOST_AT_ONCE)]


class ListQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Filters of the list. q: words."""

    q: _Text = ""
    state: SourceState | Literal[""] = ""
    health: Flag | Literal[""] = ""
    kind: SourceType | Literal[""] = ""
    tag: _Text = ""
    sort: SourceSort = "worst"
    cursor: Annotated[str, Meta(max_length=1_000)] = ""
    size: Annotated[int, Meta(ge=SIZES[0], le=SIZES[-1])] = SIZES[0]


class Many(Form, frozen=True):
    """An action on the ticked sources, and the page to return to. tag, schedule: arguments of some actions.

    every: act on all sources of the list at `back`, across pages, instead of the ticked ones.
    """

    act: Literal["pause", "resume", "check", "tag", "untag", "schedule", "delete"]
    source: Ids = ()
    every: bool = False
    tag: _Text = ""
    schedule: Annotated[str, Meta(max_length=20)] = ""
    back: str = PATH


class Deletion(Form, frozen=True):
    """Deletes the ticked sources, or `every` source of the list at `back`, if `confirm` matches."""

    source: Ids = ()
    every: bool = False
    confirm: str = ""
    back: str = PATH


class SourceLine(NamedTuple):
    """One source in the list."""

    view: SourceView
    name: str
    standing: words.Standing
    health: words.Standing | None
    kind: str
    labels: tuple[str, ...]
    strip: Strip


class Head(NamedTuple):
    """A column's head. to: the list in its order, or "". sorted: as in `aria-sort`."""

    says: str
    to: str = ""
    sorted: Literal["", "ascending", "descending"] = ""


def _heads(query: ListQuery) -> list[Head]:
    found = []
    for says, sorts in _COLUMNS:
        if not sorts:
            found.append(Head(says))
            continue
        other = sorts[(sorts.index(query.sort) + 1) % len(sorts)] if query.sort in sorts else sorts[0]
        way: Literal["", "ascending", "descending"] = ""
        if query.sort in sorts:
            way = "ascending" if query.sort in _RISES else "descending"
        found.append(Head(says, _target(replace(query, sort=other)), way))
    return found


async def listing(visit: Visit) -> Page:
    query: ListQuery = visit.query
    target = _target(query)
    after = decode_cursor(query.cursor, tuple[int, float, str, int], target) if query.cursor else None
    where = picked(query)
    page = await sources.page(visit, query.size, after, where, query.sort)
    tags = await sources.tags(visit)
    cursor = None if page.next_after is None else encode_cursor(page.next_after, target)
    shows = {
        "lines": [_line(view) for view in page.views],
        "query": query,
        "filtered": bool(where),
        "chips": _chips(query),
        "census": [(state, SOURCES[state], count) for state, count in page.census.items() if count],
        "total": sum(page.census.values()),
        "following": _target(query, cursor=cursor) if cursor is not None else "",
        "first": target if query.cursor else "",
        "here": _target(query, cursor=query.cursor),
        "heads": _heads(query),
        "order": say(_SAID[query.sort]),
        "newest": _target(replace(query, sort="added")) if query.sort != "added" else "",
        "views": await views_of(visit, "sources"),
        "folders": folders(tags)[:MOST_FOLDERS],
        "tag_defaults": inherited.address(query.tag),
        "sizes": [(size, _target(replace(query, size=size))) for size in SIZES],
        "states": [(name, state.word) for name, state in SOURCES.items()],
        "healths": [(name, state.word) for name, state in HEALTH.items()],
        "kinds": list(words.KINDS.items()),
    }
    return Page("sources/list.html", say("Sources"), shows)


def _chips(query: ListQuery) -> list[Chip]:
    named = (
        ("q", say("Words"), query.q),
        ("state", say("State"), say(SOURCES[query.state].word) if query.state else ""),
        ("health", say("Health"), say(HEALTH[query.health].word) if query.health else ""),
        ("kind", say("Kind"), say(words.KINDS[query.kind]) if query.kind else ""),
        ("tag", say("Tag"), query.tag),
    )
    asked = {name: str(value) for name, value in asdict(query).items() if value not in (SIZES[0], "worst")}
    return chips(PATH, asked | {"cursor": ""}, named)


def picked(query: ListQuery) -> SourceSelection:
    return SourceSelection(
        words=tuple(query.q.split()),
        states=(query.state,) if query.state else (),
        flags=(query.health,) if query.health else (),
        tags=(query.tag,) if query.tag else (),
        kinds=(query.kind,) if query.kind else (),
    )


def _target(query: ListQuery, *, cursor: str | None = None) -> str:
    """Return the path of a page of the list."""
    size = str(query.size) if query.size != SIZES[0] else ""
    sort = query.sort if query.sort != "worst" else ""
    wanted = {"q": query.q, "state": query.state, "health": query.health, "kind": query.kind, "tag": query.tag}
    return address(PATH, **wanted, sort=sort, size=size, cursor=cursor)


def _line(view: SourceView) -> SourceLine:
    return SourceLine(
        view,
        words.name_of(view.source),
        words.standing(view),
        words.health(view),
        words.KINDS[view.source.type],
        words.labels(view.source),
        strip(trail.read(view.hot.trail)),
    )


async def many(visit: Visit) -> Go | Page:
    """Run the action on the chosen sources; a deletion asks for confirmation first."""
    form: Many = visit.form
    ids = await _meant(visit)
    if not ids:
        return Go(own_path(form.back), say("Nothing was done: no source is ticked."), bad=True)
    if form.act == "delete":
        return await sure(visit)
    act, done = _act(form)
    outcomes = await sources.each(visit, ids, act)
    paused = tuple(one for one in outcomes if isinstance(one, str) and one) if form.act == "pause" else ()
    return Go(own_path(form.back), *_outcome(outcomes, done), undo=Undo("resume", paused) if paused else None)


async def listed_again(visit: Visit) -> Page:
    """Show the list again with the ticked rows and the input."""
    try:
        visit.query = _listed(visit.draft.value("back", PATH))
    except Wrong:
        visit.query = ListQuery()
    return await listing(visit)


async def _meant(visit: Visit) -> tuple[str, ...]:
    """Return the ids of the ticked sources, or of all in the list, at most `MOST_OF_ALL`."""
    given = visit.draft.given if visit.form is None else None
    every = bool(given.get("every")) if given is not None else visit.form.every
    if not every:
        return _ids(visit)
    where = picked(_listed(visit.form.back if visit.form is not None else visit.draft.value("back", PATH)))
    found: list[str] = []
    after: tuple[int, float, str, int] | None = None
    while len(found) < MOST_OF_ALL:
        page = await sources.page(visit, MOST_AT_ONCE, after, where)
        found += (view.source.id for view in page.views)
        after = page.next_after
        if after is None:
            break
    return tuple(dict.fromkeys(found))[:MOST_OF_ALL]


def _listed(back: str) -> ListQuery:
    """Parse the list's query from a path of ours. Raises Wrong."""
    asked = {name: values[-1] for name, values in parse_qs(urlsplit(own_path(back)).query).items()}
    known = {name: asked[name] for name in ListQuery.__struct_fields__ if name in asked}
    try:
        return msgspec.convert(known, ListQuery, strict=False)
    except msgspec.ValidationError:
        raise Wrong(say("The list that was shown cannot be read again: filter it anew.")) from None


def _act(form: Many) -> tuple[Act, str]:
    """Return the function for each source, and the words for the result."""
    match form.act:
        case "check":
            return sources.check, say("to be looked at now")
        case "tag" | "untag":
            if not form.tag.strip():
                raise Wrong(tag=say("Type a tag."))
            on = form.act == "tag"
            tag = form.tag.strip()
            done = say("tagged “%(tag)s”", tag=tag) if on else say("without the tag “%(tag)s”", tag=tag)
            return lambda call, id: sources.mark(call, id, form.tag, on=on), done
        case "schedule":
            patch = SourcePatch(schedule=_schedule(form.schedule.strip()))
            done = say("looked at every %(interval)s", interval=patch.schedule)
            if patch.schedule is None:
                done = say("looked at as often as they change")
            return lambda call, id: sources.change(call, id, patch), done
        case "pause":
            return sources.pause, say_as("what was done", "paused")
        case _:
            return sources.resume, say("resumed")


def _schedule(text: str) -> str | None:
    try:
        return msgspec.convert(text, Schedule) if text else None
    except msgspec.ValidationError:
        raise Wrong(schedule=say("Type an interval such as 10m, 2h or 1d, or leave it empty.")) from None


async def sure(visit: Visit) -> Page:
    ids = await _meant(visit)
    found = await sources.each(visit, ids[:MOST_AT_ONCE], sources.view)
    views = [one for one in found if isinstance(one, SourceView)]
    if not views:
        raise Wrong(say("None of these sources is there any more."))
    every = visit.form.every if visit.form is not None else bool(visit.draft.given.get("every"))
    count = len(ids) if every else len(views)
    shows = {
        "names": [words.name_of(view.source) for view in views],
        "count": count,
        "every": every,
        "ids": [] if every else [view.source.id for view in views],
        "word": sure_word(count),
        "back": own_path(visit.form.back if visit.form is not None else visit.draft.value("back", PATH)),
    }
    return Page("sources/delete.html", say_many("Delete %(count)s source", "Delete %(count)s sources", count), shows)


def sure_word(count: int) -> str:
    """Return the text to type to confirm a deletion."""
    return f"{say('delete')} {count}"


def _ids(visit: Visit) -> tuple[str, ...]:
    given = visit.form.source if visit.form is not None else visit.draft.given.get("source", ())
    return tuple(dict.fromkeys(one for one in given if isinstance(one, str)))[:MOST_AT_ONCE]


async def delete_many(visit: Visit) -> Go:
    form: Deletion = visit.form
    ids = await _meant(visit)
    word = sure_word(len(ids))
    if form.confirm != word:
        raise Wrong(confirm=say("Type “%(word)s”.", word=word))
    outcomes = await sources.each(visit, ids, sources.delete)
    gone = tuple(id for id, outcome in zip(ids, outcomes, strict=True) if not isinstance(outcome, Failed))
    says, bad = _outcome(outcomes, say("deleted"))
    undo = Undo("restore", gone) if gone else None
    return Go(own_path(form.back), f"{says} {say(RESTING, count=MINUTES)}" if gone else says, bad, undo=undo)


def _outcome(outcomes: Sequence[object], done: str) -> tuple[str, bool]:
    """Return the result of an action as a sentence, and whether it is bad."""
    failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    says = say_many("%(count)s source %(done)s.", "%(count)s sources %(done)s.", len(outcomes) - len(failed), done=done)
    if failed:
        reason = translated(words.sentence(failed[0].refusal.detail))
        says += " " + say("%(count)s not: %(reason)s", count=len(failed), reason=reason)
    return says, bool(failed)


SCREENS = (
    Screen(path=PATH, run=listing, query=ListQuery),
    Screen(method="POST", path=f"{PATH}/many", run=many, form=Many, again=listed_again),
    Screen(method="POST", path=f"{PATH}/many/delete", run=delete_many, form=Deletion, again=sure),
)
