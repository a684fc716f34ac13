"""One source: its state and events, its text, two versions compared, its settings, and its buttons.

The settings of a source as form fields, and those that it inherits from its tags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, get_args
from urllib.parse import quote

import msgspec
import trio
from msgspec import Meta, Struct, defstruct
from msgspec.structs import fields

from actors.errors import Conflict, DomainError, NotFound, Stale, Unprocessable
from actors.inheritance import INHERITABLE, origins_of
from actors.language.sentences import translated
from actors.language.speaking import noted, number, say
from actors.messages import requests as ask
from actors.messages.declaring import Declared, made_of, mirrored, part_of
from actors.messages.requests import SourcePatch
from actors.messages.views import SourceExplanation, SourceView
from api.dashboard.drawing import DifferenceLine, EventChange, lines_of, of_steps, size
from api.dashboard.events import Item, item_of
from api.dashboard.forms import Confirm, Form, InvalidForm
from api.dashboard.lists import address
from api.dashboard.screen import Download, Go, Page, PictureAnswer, Screen, Undo, Visit, act, buttons, post, texts
from api.dashboard.sources import display
from api.dashboard.sources.display import MINUTES, RESTING, course, drawn, labels, listed, timeline
from api.fields.queries import EventsQuery
from api.fields.sources import Preview, PreviewRequest
from api.nouns import events, sources, values, versions
from api.nouns import tags as acts
from api.nouns import why as coverage
from api.nouns.context import existing
from api.nouns.events import END
from api.nouns.versions import NOW, START, Version
from api.nouns.why import notes_of
from api.problems import Refusal, plainly, sentence
from api.refusals import refusal_of
from storage.records import source as states
from storage.records.checks import Note, Row, Verdict, read_rows
from storage.records.event import REVERTED, Filter
from storage.records.identity import Millis, SourceId, interval_text, parse_rfc3339
from storage.records.revision import revision_of
from storage.records.source import LOOKS as LOOK_STATES
from storage.records.source import OWN_NAMESPACES, Inheritable, Source
from storage.records.tiers import Kind, Setting, SourceType

_OWN: Final[dict[Inheritable, str]] = {name: f"own_{name}" for name in INHERITABLE}
_ELSEWHERE: Final = ("url", "type", "backfill", "enabled", "own_only", "managed", "verify")
_ASKED: Final = [field for field in fields(ask.NewSource) if field.name not in _ELSEWHERE]
_LISTS: Final = {one.name: one.type for one in _ASKED if one.default == ()}
_BY_LINE: Final = ("ignore", "replies")  # lists whose items may have commas
_Lines = Annotated[str, Meta(max_length=60_000)]
_Typed = defstruct("_Typed", [*((name, _Lines, "") for name in _LISTS), *((box, bool, False) for box in _OWN.values())])


@part_of(ask.NewSource, [one.name for one in _ASKED])
@part_of(_Typed, _Typed.__struct_fields__)
class Options(Form, Declared, frozen=True):
    """A source's settings; lists are text. everything: each frame is an event. own_...: a setting that ignores tags."""

    everything: bool = False
    hello: ask.Hello | None = None
    follow: bool = False
    render: ask.RenderWish | None = None

    @property
    def wanted(self) -> str | None:
        """The query that frames must match; "" matches all."""
        return "" if self.everything else self.filter


def settings_in(form: Options) -> dict[str, Any]:
    """Return the form's settings, by the names of a request's fields. Raises InvalidForm."""
    read = {one.name: many(form, one.name) if one.name in _LISTS else getattr(form, one.name) for one in _ASKED}
    if form.render is None:  # the form did not ask
        del read["render"]
    return read | {
        "own_only": tuple(name for name, field in _OWN.items() if getattr(form, field)),
        "filter": form.wanted,
        "follow": "new_links" if form.follow else "none",
    }


def shown_of(source: Source) -> dict[str, Any]:
    return mirrored(source, Options) | {
        **dict.fromkeys(ask.SECRETS),
        **{name: ("\n" if name in _BY_LINE else ", ").join(getattr(source, name)) for name in _LISTS},
        **{box: name in source.own_only for name, box in _OWN.items()},
        "tags": ", ".join(labels(source)),
        "filter": source.filter or None,
        "everything": source.filter == "",
        "follow": source.follow != "none",
    }


def words_in(text: str) -> tuple[str, ...]:
    r"""Split a text at commas and line ends.

    >>> words_in(" prices, topic:sea,,\nnews ")
    ('prices', 'topic:sea', 'news')
    """
    return tuple(word for part in text.replace("\n", ",").split(",") if (word := part.strip()))


def lines_in(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.split("\n") if line.strip())


def many(form: Options, name: str) -> tuple[str, ...]:
    """Return the items of a list, as the API would accept it. Raises InvalidForm."""
    items = (lines_in if name in _BY_LINE else words_in)(getattr(form, name))
    read: tuple[str, ...] = checked(name, items, _LISTS[name])
    return read


def checked(field: str, value: Any, kind: Any) -> Any:
    """Return a value as the API would accept it. Raises InvalidForm with the error at its field."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise InvalidForm(**{field: translated(plainly(str(error)))}) from None


DEFAULTS_PATH: Final = "/sources/tags/defaults"
MOST_OFFERED: Final = 100  # destinations to offer; others can be set over the API
LABELS: Final[dict[Inheritable, str]] = {
    "schedule": noted("Interval"),
    "hours": noted("Only in these hours"),
    "bar": noted("Reported from this score"),
    "selector": noted("Only this part"),
    "ignore": noted("Not these parts"),
}


class TagForm(Options, frozen=True, kw_only=True):
    """The defaults of a tag, from the revision that was shown; "" without one."""

    tag: Annotated[str, Meta(max_length=200)]
    destinations: tuple[Annotated[str, Meta(max_length=100)], ...] = ()
    revision: str = ""


class Forgetting(Form, frozen=True, kw_only=True):
    """The tag whose defaults to delete."""

    tag: Annotated[str, Meta(max_length=200)]


def defaults_path(tag: str) -> str:
    """Return the page of a tag's defaults, or "" for the service's own tags and whole namespaces.

    >>> defaults_path("news/*"), defaults_path("topic:*"), defaults_path("")
    ('/sources/tags/defaults?tag=news', '', '')
    """
    tag = tag.removesuffix("/*")
    ours = tag.partition(":")[0] in OWN_NAMESPACES
    return "" if not tag or tag.endswith(":*") or ours else f"{DEFAULTS_PATH}?tag={quote(tag, safe='')}"


def inherited(source: Source) -> list[dict[str, Any]]:
    found = []
    for name, tags in origins_of(source).items():
        value = getattr(source, name)
        one = interval_text(value) if name == "schedule" else str(value)
        found.append(_inherited(name, list(value) if name == "ignore" else [one], tags))
    return found


def inherited_part(
    selector: str | None, ignore: Sequence[str], origins: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    values: dict[Inheritable, Sequence[str]] = {"selector": [selector or ""], "ignore": ignore}
    return [_inherited(name, values[name], origins[name]) for name in values if name in origins]


def _inherited(name: Inheritable, values: Sequence[str], tags: Sequence[str]) -> dict[str, Any]:
    called = ", ".join(tag.removeprefix("label:") for tag in tags)
    return {"label": LABELS[name], "texts": values, "tags": called, "to": defaults_path(tags[0])}


async def show_defaults(visit: Visit) -> Page:
    asked = visit.draft.value("tag") or visit.query.tag
    try:
        found = await acts.find(visit, asked)
    except Unprocessable:  # a tag of the service's own
        raise NotFound(acts.NO_TAG) from None
    defaults = found.defaults
    settings = ask.TagSettings() if defaults is None else acts.settings_of(defaults)
    kept = await visit.context.storage.alerts.destinations()
    names = {alert.id: alert.name for alert in await visit.context.storage.alerts.all()}
    chosen = set(found.destinations)
    offered = sorted(kept, key=lambda one: one.id not in chosen)[:MOST_OFFERED]
    shows = {
        "tag": found.tag.removeprefix("label:"),
        "found": found,
        "form": made_of(Options, settings, ignore="\n".join(settings.ignore)),
        "chosen": chosen,
        "revision": "" if defaults is None else revision_of(defaults),
        "offered": [(one.id, one.label, names.get(one.alert_id, "")) for one in offered],
        "here": defaults_path(found.tag),
    }
    return Page("sources/tag_defaults.html", say("Defaults of %(tag)s", tag=shows["tag"]), shows)


async def save_defaults(visit: Visit) -> Go:
    form: TagForm = visit.form
    given = settings_in(form) | {"destinations": form.destinations}
    settings = ask.TagSettings(**{name: given[name] for name in ask.TagSettings.__struct_fields__ if name != "managed"})
    if settings.says_nothing:
        raise InvalidForm(say("No default is set. To remove the defaults, use the button below."))
    before = (await acts.find(visit, form.tag)).defaults
    if (revision_of(before) if before is not None else "") != form.revision:
        raise Stale
    found = await acts.put(visit, form.tag, settings, frozenset((form.revision,)) if form.revision else None)
    return Go(defaults_path(found.tag), say("Saved. Its sources follow within one interval."))


async def forget(visit: Visit) -> Go:
    form: Forgetting = visit.form
    await acts.delete(visit, form.tag)
    return Go("/sources/tags", say("“%(tag)s” has no defaults any more. Its sources keep the tag.", tag=form.tag))


PATH: Final = "/sources/{id}"
EVENTS: Final = 10
LOOKS: Final = 20
HISTORY: Final = 8
MOST_LINES: Final = 60  # lines of the latest difference
_Text = Annotated[str, Meta(max_length=500)]


class ShowQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """cursor: of its events. text: the text to explain."""

    cursor: Annotated[str, Meta(max_length=500)] = ""
    text: _Text = ""


class WhyForm(Form, frozen=True, kw_only=True):
    """A text to explain, after a check now."""

    text: _Text


class ShownEvent(EventChange, frozen=True, kw_only=True):
    """The fields of an event that the page shows."""

    id: str
    source_type: SourceType
    content: str = ""
    emitted_at: str = ""
    alert_type: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def went_back(self) -> bool:
        return REVERTED in self.tags

    @property
    def lines(self) -> list[DifferenceLine]:
        return lines_of(self, MOST_LINES)


_told = msgspec.json.Decoder(ShownEvent)


async def show(visit: Visit) -> Page:
    query: ShowQuery = visit.query
    answer = await sources.explain(visit, visit.path["id"], query.text) if query.text.strip() else None
    return await page_of(visit, answer, query)


async def look_why(visit: Visit) -> Page:
    text = visit.form.text
    return await page_of(visit, await sources.explain(visit, visit.path["id"], text, look=True), ShowQuery(text=text))


async def page_of(visit: Visit, answer: SourceExplanation | None, query: ShowQuery) -> Page:
    id = sources.parse_id(visit.path["id"])
    found = await sources.examine(visit, id)
    view, hot = found.view, found.view.hot
    rows = read_rows(hot.trail)
    told, items, cursor = await _events(visit, id, query.cursor)
    notices = Filter(sources=(id,), kinds=(Kind.NOTICE,))  # the history of its health
    history = (await visit.context.storage.log.read_back(END, HISTORY, notices)).events
    held = await visit.context.storage.log.held(id)
    current = listed(await values.values(visit, id))
    notes = await notes_of(visit.context.storage.sources, id)
    latest = next((one for one in told if one.lines), None) if not query.cursor else None
    shows = display.facts(view) | {
        "hot": hot,
        "id": id,
        "inherited": inherited(view.effective),
        "examined": found,
        "causes": display.CAUSES,
        "held": held,
        "covered": await coverage.coverage_of(visit, view.source, hot.tally),
        "size": size,
        "line": timeline(rows, visit.now, hot.next_look_at if view.source.enabled else None),
        "verdicts": {verdict: state.word for verdict, state in LOOK_STATES.items()},
        "last": rows[-1] if rows else None,
        "looked": _looked(rows, notes),
        "told": items,
        "following": f"/sources/{id}?cursor={cursor}#events" if cursor else "",
        "first": f"/sources/{id}#events" if query.cursor else "",
        "latest": latest,
        "untold": untold_since(latest.emitted_at, rows) if latest is not None else None,
        "picture": await visit.context.storage.pictures.newest(id),
        "course": course(states.read(hot.scores), visit.now, visit.zone),
        "history": [_told.decode(stored.body) for stored in history],
        "values": [drawn(one, visit.now, lambda at: visit.moment(at).words) for one in current["charts"]],
        "current": current,
        "text": query.text,
        "answer": answer,
    }
    return Page("sources/one.html", display.name_of(view.source), shows)


async def receipt(visit: Visit) -> Download:
    made = await coverage.coverage(visit, sources.parse_id(visit.path["id"]))
    return Download("coverage.json", await coverage.signed(visit, made), "application/json")


async def screenshot(visit: Visit) -> PictureAnswer:
    found = await versions.newest_picture(visit, visit.path["id"])
    return PictureAnswer(found.body, found.media, events.headers_of(found, visit.path["id"]))


def untold_since(told_at: str, rows: Sequence[Row]) -> Millis | None:
    told = parse_rfc3339(told_at)
    found = [row.last_at for row in rows if row.verdict is Verdict.NOTHING_TO_TELL and row.last_at > told]
    return found[-1] if found else None


async def _events(visit: Visit, id: SourceId, cursor: str) -> tuple[list[ShownEvent], list[Item], str | None]:
    query = EventsQuery(source=(id,), order="desc", limit=EVENTS, cursor=cursor or None)
    # The cursor belongs to this list, independent of the page's other parameters.
    page = await events.history(visit, query, f"/sources/{id}/events")
    bodies = [stored.body for stored in page.events]
    return [_told.decode(body) for body in bodies], [item_of(body) for body in bodies], page.cursor


def _looked(rows: Sequence[Row], notes: Sequence[Note]) -> list[dict[str, Any]]:
    found = []
    for row in reversed(rows[-LOOKS:]):
        # Rows have whole seconds, notes milliseconds.
        note = next((one.reason for one in reversed(notes) if row.first_at <= one.at < row.last_at + 1000), "")
        failed = row.verdict >= Verdict.REMOTE_TRANSIENT
        found.append({"row": row, "says": LOOK_STATES[row.verdict].word, "failed": failed, "note": note})
    return found


async def show_text(visit: Visit) -> Page:
    view = await sources.view(visit, visit.path["id"])
    page = await sources.reported_page(visit, view.source.id)
    told = existing(page, say("This source has no text: it is not a page, or has not been read yet."))
    where = Filter(sources=(view.source.id,), kinds=(Kind.HTML, Kind.PRACTICE))
    last = (await visit.context.storage.log.read_back(END, 1, where)).events
    event = _told.decode(last[0].body) if last else None
    shows = _named(view) | {"told": told, "seen": view.hot.last_success_at, "event": event}
    shows["went_back"] = event is not None and event.went_back
    return Page("sources/text.html", say("%(name)s now", name=shows["name"]), shows)


def _named(view: SourceView) -> dict[str, Any]:
    return {"id": view.source.id, "name": display.name_of(view.source), "url": view.source.watch_url}


MOST_STEPS: Final = 2_000  # texts to show, to limit the page's size
_Id = Annotated[str, Meta(max_length=40)]


class CompareQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """The versions, in any order; by default the newest two. show: only the differences, or the whole text."""

    from_: _Id = ""
    to: _Id = ""
    show: Literal["", "text"] = ""


async def compare(visit: Visit) -> Page:
    query: CompareQuery = visit.query
    view = await sources.view(visit, visit.path["id"])
    kept = await versions.versions(visit, view.source.id)
    title = say("Versions of %(name)s", name=display.name_of(view.source))
    one, other = versions.chosen(kept, query.from_, query.to)
    options = [(each.id, _called(visit, each)) for each in kept]
    shows = _named(view) | {"options": options, "from_": one, "to": other, "trouble": ""}
    shows["whole_text"] = query.show == "text"
    if one == other:
        return Page("sources/compare.html", title, shows)
    try:
        found = await versions.compare(visit, view.source.id, one, other)
    except Conflict as error:
        return Page("sources/compare.html", title, shows | {"trouble": translated(str(error))})
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
    return Page("sources/compare.html", title, shows)


def _called(visit: Visit, version: Version) -> str:
    if version.id == NOW:
        return say("As it is watched now")
    if version.id == START:
        return say("Before the oldest stored change")
    return f"{visit.moment(version.at).full}: {version.says}"[:140]


PATIENCE: Final = 8.0  # seconds to wait for the requested check
_GLANCE: Final = 0.2


class Edit(Options, frozen=True, kw_only=True):
    """Settings, from the revision shown. Empty `hello` and `headers` stay as they are unless the form removes them."""

    forget_hello: bool = False
    forget_headers: bool = False
    revision: str = ""


async def check(visit: Visit) -> Go:
    id = visit.path["id"]
    there, before = f"/sources/{sources.parse_id(id)}", await sources.view(visit, id)
    try:
        await sources.check(visit, id)
    except (Refusal, DomainError) as error:
        refusal = refusal_of(error, owner=True)
        return Go(there, translated(sentence(refusal.detail if refusal is not None else str(error))), bad=True)
    with trio.move_on_after(PATIENCE):
        while True:
            view = await sources.view(visit, id)
            if view.hot.looks > before.hot.looks:
                return Go(there, *came_of_it(view))
            await trio.sleep(_GLANCE)
    return Go(there, say("The check is requested and waits for its host's turn. The result appears here."))


def came_of_it(view: SourceView) -> tuple[str, bool]:
    rows = read_rows(view.hot.trail)
    if not rows:
        return say("Checked."), False
    row = rows[-1]
    if row.verdict >= Verdict.REMOTE_TRANSIENT:
        says = say("Checked just now: %(state)s.", state=say(LOOK_STATES[row.verdict].word))
        return f"{says} {translated(view.hot.last_error or '')}".strip(), True
    news = {Verdict.CHANGED: say("there is a change"), Verdict.UNCHANGED: say("nothing has changed")}
    state = news.get(row.verdict, say("it has changed, but not enough to report"))
    says = say("Checked just now: %(state)s.", state=state)
    return f"{says} ({row.status or say('no status')}, {number(row.ms)} ms)", False


async def pause(visit: Visit) -> Go:
    id = await sources.pause(visit, visit.path["id"])
    there, undo = f"/sources/{sources.parse_id(visit.path['id'])}", Undo("resume", (id,)) if id else None
    return Go(there, say("Paused. It is not checked until you resume it."), undo=undo)


resume = act(PATH, noted("Resumed."), sources.resume)


async def delete(visit: Visit) -> Go:
    view = await sources.view(visit, visit.path["id"])
    visit.form.check_deletion()
    await sources.delete(visit, visit.path["id"])
    name, resting = display.name_of(view.source), say(RESTING, count=MINUTES)
    says = say("Deleted: %(name)s. Its past events stay until retention takes them.", name=name)
    return Go("/sources", f"{says} {resting}", undo=Undo("restore", (view.source.id,)))


async def edit(visit: Visit) -> Page:
    view = await sources.view(visit, visit.path["id"])
    return _edit_page(view, Edit(**shown_of(view.source), revision=revision_of(view.source)))


def _edit_page(view: SourceView, form: Edit, preview: Preview | None = None) -> Page:
    shows = {
        "source": view.source,
        "name": display.name_of(view.source),
        "form": form,
        "preview": preview,
        "has_hello": view.source.hello is not None,
        "has_headers": view.source.headers is not None,
        "noise": len(view.source.noise),
        "inherited": inherited(view.effective),
    }
    return Page("sources/edit.html", say("Edit %(name)s", name=display.name_of(view.source)), shows)


async def check_value(visit: Visit) -> Page:
    form: Edit = visit.form
    view = await sources.view(visit, visit.path["id"])
    found = await sources.preview(visit, view.source.id, PreviewRequest(form.selector, many(form, "ignore")))
    return _edit_page(view, form, found)


async def save(visit: Visit) -> Go:
    form: Edit = visit.form
    source = (await sources.view(visit, visit.path["id"])).source
    await sources.change(visit, source.id, patch_of(source, form), frozenset((form.revision,)))
    says = say("Saved.")
    if source.tier.has_diff and (form.selector, many(form, "ignore")) != (source.selector, source.ignore):
        says = say("Saved. The next check stores the new part as the baseline and reports nothing.")
    return Go(f"/sources/{source.id}", says)


def patch_of(source: Source, form: Edit) -> SourcePatch:
    given = settings_in(form)
    forgotten = {"hello": form.forget_hello, "headers": form.forget_headers}
    given = {name: value for name, value in given.items() if value is not None or forgotten.get(name, True)}
    others = frozenset(get_args(Setting)) - source.tier.settings
    return SourcePatch(**{name: value for name, value in given.items() if name not in others})


SCREENS: tuple[Screen, ...] = (
    Screen(path=PATH, run=show, query=ShowQuery),
    Screen(path=f"{PATH}/coverage", run=receipt),
    Screen(path=f"{PATH}/screenshot", run=screenshot),
    post(f"{PATH}/why", look_why, WhyForm, show, scope="sources:read"),
    Screen(path=f"{PATH}/text", run=show_text),
    Screen(path=f"{PATH}/compare", run=compare, query=CompareQuery),
    *buttons(PATH, show, check=check, pause=pause, resume=resume),
    post(f"{PATH}/delete", delete, Confirm, show),
    Screen(path=f"{PATH}/edit", run=edit),
    post(f"{PATH}/edit", save, Edit, edit),
    post(f"{PATH}/try", check_value, Edit, edit),
    Screen(path=DEFAULTS_PATH, run=show_defaults, query=texts(tag=200)),
    post(DEFAULTS_PATH, save_defaults, TagForm, show_defaults),
    post(f"{DEFAULTS_PATH}/forget", forget, Forgetting, show_defaults),
)
