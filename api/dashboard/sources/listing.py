"""The list of sources: worst first, filtered, page by page; and what is done to many of them at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from actors.messages.requests import Schedule, SourcePatch
from actors.messages.views import SourceView
from actors.selection import SourceSelection
from api.cursors import decode_cursor, encode_cursor
from api.dashboard.amounts import counted
from api.dashboard.forms import Form, Wrong
from api.dashboard.lists import address
from api.dashboard.screen import Go, Page, Screen, Visit
from api.dashboard.sessions import own_path
from api.dashboard.sources import words
from api.dashboard.sources.ticks import Strip, strip
from api.operations import sources
from api.operations.batches import Failed
from api.operations.context import OperationContext
from storage.records import trail
from storage.records.health import Flag
from storage.records.states import HEALTH, SOURCES, SourceState
from storage.records.tiers import SourceType

SIZES = (30, 100, 200)
"""How many a page may have."""
MOST_AT_ONCE = SIZES[-1]
PATH = "/sources"
_Text = Annotated[str, Meta(max_length=200)]
Act = Callable[[OperationContext, str], Awaitable[object]]
Ids = Annotated[tuple[str, ...], Meta(max_length=MOST_AT_ONCE)]


class ListQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which sources. q: words."""

    q: _Text = ""
    state: SourceState | Literal[""] = ""
    health: Flag | Literal[""] = ""
    kind: SourceType | Literal[""] = ""
    tag: _Text = ""
    cursor: Annotated[str, Meta(max_length=500)] = ""
    size: Annotated[int, Meta(ge=SIZES[0], le=SIZES[-1])] = SIZES[0]


class Many(Form, frozen=True):
    """What to do with the ticked ones, and where to go then. tag, schedule: for the acts that need them."""

    act: Literal["pause", "resume", "check", "tag", "untag", "schedule", "delete"]
    source: Ids = ()
    tag: _Text = ""
    schedule: Annotated[str, Meta(max_length=20)] = ""
    back: str = PATH


class Deletion(Form, frozen=True):
    """The ticked ones are deleted once `confirm` says so."""

    source: Ids = ()
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


async def listing(visit: Visit) -> Page:
    query: ListQuery = visit.query
    target = _target(query)
    after = decode_cursor(query.cursor, tuple[int, float, str, int], target) if query.cursor else None
    where = picked(query)
    page = await sources.page(visit, query.size, after, where)
    cursor = None if page.next_after is None else encode_cursor(page.next_after, target)
    shows = {
        "lines": [_line(view) for view in page.views],
        "query": query,
        "filtered": bool(where),
        "census": [(state, SOURCES[state], count) for state, count in page.census.items() if count],
        "total": sum(page.census.values()),
        "following": _target(query, cursor=cursor) if cursor is not None else "",
        "first": target if query.cursor else "",
        "here": _target(query, cursor=query.cursor),
        "sizes": [(size, _target(replace(query, size=size))) for size in SIZES],
        "states": [(name, state.word) for name, state in SOURCES.items()],
        "healths": [(name, state.word) for name, state in HEALTH.items()],
        "kinds": list(words.KINDS.items()),
    }
    return Page("sources/list.html", "Sources", shows)


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
    wanted = {"q": query.q, "state": query.state, "health": query.health, "kind": query.kind, "tag": query.tag}
    return address(PATH, **wanted, size=size, cursor=cursor)


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
    """Pause or resume the ticked sources; a deletion asks once more."""
    form: Many = visit.form
    if not form.source:
        return Go(own_path(form.back), "Nothing was done: no source is ticked.", bad=True)
    if form.act == "delete":
        return await sure(visit)
    act, done = _act(form)
    return Go(own_path(form.back), *_outcome(await sources.each(visit, form.source, act), done))


def _act(form: Many) -> tuple[Act, str]:
    """Return what is done to each, and the word for that."""
    match form.act:
        case "check":
            return sources.check, "to be looked at now"
        case "tag" | "untag":
            if not form.tag.strip():
                raise Wrong(tag="Type a tag.")
            on = form.act == "tag"
            done = f"{'tagged' if on else 'without the tag'} “{form.tag.strip()}”"
            return lambda call, id: sources.mark(call, id, form.tag, on=on), done
        case "schedule":
            patch = SourcePatch(schedule=_schedule(form.schedule.strip()))
            rhythm = "as often as they change" if patch.schedule is None else f"every {patch.schedule}"
            return lambda call, id: sources.change(call, id, patch), f"looked at {rhythm}"
        case _:
            patch = SourcePatch(enabled=form.act != "pause")
            return lambda call, id: sources.change(call, id, patch), "resumed" if patch.enabled else "paused"


def _schedule(text: str) -> str | None:
    try:
        return msgspec.convert(text, Schedule) if text else None
    except msgspec.ValidationError:
        raise Wrong(schedule="Type an interval such as 10m, 2h or 1d, or leave it empty.") from None


async def sure(visit: Visit) -> Page:
    """Ask whether these are to be deleted."""
    ids = _ids(visit)
    found = await sources.each(visit, ids, sources.view)
    views = [one for one in found if isinstance(one, SourceView)]
    if not views:
        raise Wrong("None of these sources is there any more.")
    shows = {
        "names": [words.name_of(view.source) for view in views],
        "ids": [view.source.id for view in views],
        "word": sure_word(len(views)),
        "back": own_path(visit.form.back if visit.form is not None else visit.draft.value("back", PATH)),
    }
    return Page("sources/delete.html", f"Delete {counted(len(views), 'source')}", shows)


def sure_word(count: int) -> str:
    """Return what is typed to confirm a deletion."""
    return f"delete {count}"


def _ids(visit: Visit) -> tuple[str, ...]:
    given = visit.form.source if visit.form is not None else visit.draft.given.get("source", ())
    return tuple(dict.fromkeys(one for one in given if isinstance(one, str)))[:MOST_AT_ONCE]


async def delete_many(visit: Visit) -> Go:
    form: Deletion = visit.form
    ids = _ids(visit)
    if form.confirm != sure_word(len(ids)):
        raise Wrong(confirm=f"Type “{sure_word(len(ids))}”.")
    return Go(own_path(form.back), *_outcome(await sources.each(visit, ids, sources.delete), "deleted"))


def _outcome(outcomes: Sequence[object], done: str) -> tuple[str, bool]:
    """Return what came of one thing done to each: a sentence, and whether it is bad."""
    failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    says = f"{counted(len(outcomes) - len(failed), 'source')} {done}."
    if failed:
        says += f" {len(failed)} not: {words.sentence(failed[0].refusal.detail)}"
    return says, bool(failed)


SCREENS = (
    Screen(path=PATH, run=listing, query=ListQuery),
    Screen(method="POST", path=f"{PATH}/many", run=many, form=Many, again=listing),
    Screen(method="POST", path=f"{PATH}/many/delete", run=delete_many, form=Deletion, again=sure),
)
