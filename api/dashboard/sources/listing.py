"""The list of sources with actions on many at once, deleted sources, and tags."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Final, Literal, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from actors.errors import Unprocessable
from actors.language.sentences import translated
from actors.language.speaking import noted, say, say_as, say_many
from actors.messages.requests import Schedule, SourcePatch
from actors.messages.views import SourceSelection, SourceSort, SourceView
from api.dashboard.forms import Confirm, Form, InvalidForm, draft_of
from api.dashboard.lists import Chip, address, chips, views_of
from api.dashboard.screen import Go, Page, Screen, Undo, Visit, post
from api.dashboard.sessions import own_path
from api.dashboard.sources import display
from api.dashboard.sources import one as options
from api.dashboard.sources.display import MINUTES, RESTING, strip
from api.nouns import sources
from api.nouns import tags as tag_defaults
from api.nouns.context import OperationContext
from api.nouns.sources import Failed
from api.pagination import decode_cursor, encode_cursor
from api.problems import sentence
from storage.records.checks import read_rows
from storage.records.source import HEALTH, OWN_NAMESPACES, RESTS, SOURCES, Flag, SourceStateName
from storage.records.tiers import SourceType

LABEL = "label:"
MOST_FOLDERS = 100


class Folder(NamedTuple):
    """A tag, or a level above tags. says: its last word. tag: the list's filter. depth: from 0."""

    says: str
    tag: str
    depth: int
    sources: int


def folders(counts: Mapping[str, int]) -> list[Folder]:
    """Return users' tags as folders, in order. counts: as named by `selecting.folders_of`.

    >>> counts = {"label:news": 1, "label:news/*": 3, "label:news/se": 2, "label:news/se/*": 2, "practice:page": 1}
    >>> [(one.says, one.tag, one.depth, one.sources) for one in folders(counts)]
    [('news', 'news/*', 0, 3), ('se', 'news/se', 1, 2)]
    >>> [(one.says, one.tag, one.depth) for one in folders({"topic:ai": 1, "topic:ai/*": 1, "topic:*": 1})]
    [('topic', 'topic:*', 0), ('ai', 'topic:ai', 1)]
    """
    names = {name.removesuffix("/*") for name in counts if name.partition(":")[0] not in OWN_NAMESPACES}
    found = []
    for name in sorted(names, key=_order):
        space, _, words = name.partition(":")
        parts = words.split("/")
        above = 0 if name.startswith(LABEL) else 1
        if words == "*":
            found.append(Folder(space, name, 0, counts[name]))
            continue
        inside = counts.get(f"{name}/*", 0)
        is_folder = any(other.startswith(f"{name}/") for other in names)
        tag = (f"{name}/*" if is_folder else name).removeprefix(LABEL)
        count = inside if is_folder else counts.get(name, inside)
        found.append(Folder(parts[-1], tag, above + len(parts) - 1, count))
    return found


def _order(name: str) -> tuple[str, ...]:
    space, _, words = name.partition(":")
    path = [] if f"{space}:" == LABEL else [space]
    return tuple(part.casefold() for part in (path if words == "*" else [*path, *words.split("/")]))


SIZES = (30, 100, 200)
MOST_AT_ONCE = SIZES[-1]
MOST_OF_ALL = 10_000
PATH = "/sources"
_COLUMNS: tuple[tuple[str, tuple[SourceSort, ...]], ...] = (
    (noted("State"), ("worst",)),
    (noted("Source"), ("name", "-name")),
    (noted("Last checks"), ()),
    (noted("Last change"), ("changed", "-changed")),
    (noted("Next check"), ("next", "-next")),
)
"""The columns, and the sort orders that pressing each one cycles through."""
_SAID: dict[SourceSort, str] = {
    "worst": noted("worst health first"),
    "name": noted("by name"),
    "-name": noted("by name, from the end"),
    "changed": noted("by last change, the newest first"),
    "-changed": noted("by last change, the oldest first"),
    "next": noted("by next check, the soonest first"),
    "-next": noted("by next check, the latest first"),
    "added": noted("newest first"),
    "-added": noted("oldest first"),
}
_RISES: frozenset[SourceSort] = frozenset(("name", "next", "-changed", "-added"))  # the orders with ascending values
_Text = Annotated[str, Meta(max_length=200)]
Act = Callable[[OperationContext, str], Awaitable[object]]
Ids = Annotated[tuple[str, ...], Meta(max_length=MOST_AT_ONCE)]


class ListQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Filters of the list. q: words."""

    q: _Text = ""
    state: SourceStateName | Literal[""] = ""
    health: Flag | Literal[""] = ""
    kind: SourceType | Literal[""] = ""
    tag: _Text = ""
    sort: SourceSort = "worst"
    cursor: Annotated[str, Meta(max_length=1_000)] = ""
    size: Annotated[int, Meta(ge=SIZES[0], le=SIZES[-1])] = SIZES[0]


class BulkForm(Form, frozen=True):
    """An action on the ticked sources, or on `every` one of the list at `back`. tag, schedule: of some actions."""

    act: Literal["pause", "resume", "check", "tag", "untag", "schedule", "delete"]
    source: Ids = ()
    every: bool = False
    tag: _Text = ""
    schedule: Annotated[str, Meta(max_length=20)] = ""
    back: str = PATH


class Deletion(Confirm, frozen=True):
    """Deletes the ticked sources, or `every` source of the list at `back`."""

    source: Ids = ()
    every: bool = False
    back: str = PATH


def _heads(query: ListQuery) -> list[dict[str, str]]:
    found = []
    for says, sorts in _COLUMNS:
        other = [*sorts, *sorts][sorts.index(query.sort) + 1] if query.sort in sorts else next(iter(sorts), None)
        to = "" if other is None else _target(replace(query, sort=other))
        order = "ascending" if query.sort in _RISES else "descending"
        found.append({"says": says, "to": to, "sorted": order if query.sort in sorts else ""})
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
        "lines": [display.facts(view) | {"strip": strip(read_rows(view.hot.trail))} for view in page.views],
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
        "tag_defaults": options.defaults_path(query.tag),
        "sizes": [(size, _target(replace(query, size=size))) for size in SIZES],
        "states": [(name, state.word) for name, state in SOURCES.items()],
        "healths": [(name, state.word) for name, state in HEALTH.items()],
        "kinds": list(display.KINDS.items()),
    }
    return Page("sources/list.html", say("Sources"), shows)


def _chips(query: ListQuery) -> list[Chip]:
    named = (
        ("q", say("Words"), query.q),
        ("state", say("State"), say(SOURCES[query.state].word) if query.state else ""),
        ("health", say("Health"), say(HEALTH[query.health].word) if query.health else ""),
        ("kind", say("Kind"), say(display.KINDS[query.kind]) if query.kind else ""),
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
    size = str(query.size) if query.size != SIZES[0] else ""
    sort = query.sort if query.sort != "worst" else ""
    wanted = {"q": query.q, "state": query.state, "health": query.health, "kind": query.kind, "tag": query.tag}
    return address(PATH, **wanted, sort=sort, size=size, cursor=cursor)


async def many(visit: Visit) -> Go | Page:
    form: BulkForm = visit.form
    ids, _, back = await _meant(visit)
    if not ids:
        return Go(back, say("Nothing was done: no source is ticked."), bad=True)
    if form.act == "delete":
        return await sure(visit)
    act, done = _act(form)
    outcomes = await sources.each(visit, ids, act)
    paused = tuple(says for says in outcomes if isinstance(says, str) and says) if form.act == "pause" else ()
    return Go(back, *_outcome(outcomes, done), undo=Undo("resume", paused) if paused else None)


async def listed_again(visit: Visit) -> Page:
    visit.query = ListQuery()
    with suppress(InvalidForm):
        visit.query = _listed(visit.draft.value("back", PATH))
    return await listing(visit)


async def _meant(visit: Visit) -> tuple[tuple[str, ...], bool, str]:
    draft = visit.draft if visit.form is None else draft_of(visit.form)
    back = draft.value("back", PATH)
    if draft.value("every") in ("", "False"):
        return tuple(dict.fromkeys(draft.texts("source")))[:MOST_AT_ONCE], False, own_path(back)
    found = await sources.every(visit, MOST_OF_ALL, picked(_listed(back)))
    return tuple(dict.fromkeys(view.id for view in found)), True, own_path(back)


def _listed(back: str) -> ListQuery:
    asked = {name: values[-1] for name, values in parse_qs(urlsplit(own_path(back)).query).items()}
    known = {name: asked[name] for name in ListQuery.__struct_fields__ if name in asked}
    try:
        return msgspec.convert(known, ListQuery, strict=False)
    except msgspec.ValidationError:
        raise InvalidForm(say("This list is out of date. Filter it again.")) from None


def _act(form: BulkForm) -> tuple[Act, str]:
    match form.act:
        case "check":
            return sources.check, say("to be checked now")
        case "tag" | "untag":
            on, tag = form.act == "tag", form.tag.strip()
            if not tag:
                raise InvalidForm(tag=say("Type a tag."))
            done = say("tagged “%(tag)s”", tag=tag) if on else say("without the tag “%(tag)s”", tag=tag)
            return lambda call, id: sources.mark(call, id, form.tag, on=on), done
        case "schedule":
            text = form.schedule.strip()
            try:
                patch = SourcePatch(schedule=msgspec.convert(text, Schedule) if text else None)
            except msgspec.ValidationError:
                says = say("Type an interval such as 10m, 2h or 1d, or leave it empty.")
                raise InvalidForm(schedule=says) from None
            done = say("checked every %(interval)s", interval=text) if text else say("checked as often as they change")
            return lambda call, id: sources.change(call, id, patch), done
        case "pause":
            return sources.pause, say_as("what was done", "paused")
        case _:
            return sources.resume, say("resumed")


async def sure(visit: Visit) -> Page:
    ids, every, back = await _meant(visit)
    found = await sources.each(visit, ids[:MOST_AT_ONCE], sources.view)
    views = [view for view in found if isinstance(view, SourceView)]
    if not views:
        raise InvalidForm(say("None of these sources is there any more."))
    count = len(ids) if every else len(views)
    shows = {
        "names": [display.name_of(view.source) for view in views],
        "count": count,
        "every": every,
        "ids": [] if every else [view.source.id for view in views],
        "word": f"{say('delete')} {count}",
        "back": back,
    }
    return Page("sources/delete.html", say_many("Delete %(count)s source", "Delete %(count)s sources", count), shows)


async def delete_many(visit: Visit) -> Go:
    ids, _, back = await _meant(visit)
    visit.form.check_deletion(len(ids))
    outcomes = await sources.each(visit, ids, sources.delete)
    gone = tuple(id for id, outcome in zip(ids, outcomes, strict=True) if not isinstance(outcome, Failed))
    says, bad = _outcome(outcomes, say("deleted"))
    undo = Undo("restore", gone) if gone else None
    return Go(back, f"{says} {say(RESTING, count=MINUTES)}" if gone else says, bad, undo=undo)


def _outcome(outcomes: Sequence[object], done: str) -> tuple[str, bool]:
    failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    says = say_many("%(count)s source %(done)s.", "%(count)s sources %(done)s.", len(outcomes) - len(failed), done=done)
    return says + _not_done(failed), bool(failed)


def _not_done(failed: Sequence[Failed]) -> str:
    if not failed:
        return ""
    reason = translated(sentence(failed[0].refusal.detail))
    return " " + say("%(count)s not: %(reason)s", count=len(failed), reason=reason)


DELETED_PATH: Final = "/sources/deleted"
MOST_DELETED: Final = 200


class Restoration(Form, frozen=True):
    """The deleted sources to restore."""

    source: Annotated[tuple[str, ...], Meta(max_length=MOST_DELETED)] = ()


class Undoing(Form, frozen=True):
    """The key of a change to undo."""

    key: Annotated[str, Meta(max_length=20)]
    back: str = "/sources"


async def show_deleted(visit: Visit) -> Page:
    found = await sources.deleted(visit, MOST_DELETED)
    lines = [(row.id, display.name_of(row), row.url, row.deleted_at, (row.deleted_at or 0) + RESTS) for row in found]
    return Page("sources/deleted.html", say("Deleted sources"), {"lines": lines, "minutes": display.MINUTES})


async def restore(visit: Visit) -> Go:
    if not (ids := tuple(dict.fromkeys(visit.form.source))):
        return Go(DELETED_PATH, say("Nothing was done: no source is ticked."), bad=True)
    return await _took_back(visit, ids, "restore", DELETED_PATH)


async def undo(visit: Visit) -> Go:
    form: Undoing = visit.form
    change = visit.undos.take(visit.who, form.key, visit.now)
    if change is None:
        says = say("This change can no longer be undone. Sources deleted a short while ago are listed here.")
        return Go(DELETED_PATH, says, bad=True)
    return await _took_back(visit, change.ids, change.act, own_path(form.back))


async def _took_back(visit: Visit, ids: tuple[str, ...], act: str, back: str) -> Go:
    do, done = (sources.restore, say("back")) if act == "restore" else (sources.resume, say("resumed"))
    return Go(back, *_outcome(await sources.each(visit, ids, do), done))


TAGS_PATH: Final = "/sources/tags"
MOST_TAGS: Final = 1_000


class Renaming(Form, frozen=True):
    """A tag, and its new name."""

    tag: _Text
    name: _Text


async def show_tags(visit: Visit) -> Page:
    found = folders(await sources.tags(visit))
    tags = [(tag, tag.tag.removesuffix("/*")) for tag in found if not tag.tag.endswith(":*")]
    kept = {kept.tag.removeprefix("label:") for kept in await visit.context.storage.tag_defaults.all()}
    tags += [(Folder(tag, tag, 0, 0), tag) for tag in sorted(kept - {tag for _, tag in tags})]  # outlive their sources
    shows = {"tags": tags[:MOST_TAGS], "more": len(tags) - MOST_TAGS, "with_defaults": kept}
    return Page("sources/tags.html", say("Tags"), shows)


async def rename(visit: Visit) -> Go:
    form: Renaming = visit.form
    try:
        done = await tag_defaults.rename(visit, form.tag, form.name)
    except Unprocessable as error:
        raise InvalidForm(name=translated(sentence(str(error).rpartition(": ")[2]))) from None
    says = say(
        "“%(tag)s” is “%(name)s” now, in %(sources)s, %(alerts)s and %(publications)s.",
        tag=form.tag,
        name=form.name,
        sources=say_many("%(count)s source", "%(count)s sources", done.sources),
        alerts=say_many("%(count)s alert", "%(count)s alerts", done.alerts),
        publications=say_many("%(count)s publication", "%(count)s publications", done.publications),
    )
    says += _not_done(done.failed)
    if done.more:
        says += " " + say("There are more sources: rename it again.")
    return Go(TAGS_PATH, says, bad=bool(done.failed) or done.more)


SCREENS: tuple[Screen, ...] = (
    Screen(path=PATH, run=listing, query=ListQuery),
    post(f"{PATH}/many", many, BulkForm, listed_again),
    post(f"{PATH}/many/delete", delete_many, Deletion, sure),
    Screen(path=DELETED_PATH, run=show_deleted),
    post(f"{DELETED_PATH}/restore", restore, Restoration, show_deleted),
    post("/sources/undo", undo, Undoing, show_deleted),
    Screen(path=TAGS_PATH, run=show_tags),
    post(TAGS_PATH, rename, Renaming, show_tags),
)
