"""The settings of a source as form fields, and those that it inherits from its tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Meta, Struct

from actors.errors import NotFound, Stale, Unprocessable
from actors.inheriting import INHERITABLE, origins_of
from actors.language.sentences import translated
from actors.language.speaking import noted, say
from actors.messages import requests as ask
from api.dashboard.forms import Form, Wrong
from api.dashboard.screen import Go, Page, Screen, Visit, post
from api.dashboard.sources.display import labels
from api.nouns import tag_defaults as acts
from api.refusal_words import plainly
from storage.records.identity import interval_text
from storage.records.revision import revision_of
from storage.records.source import OWN_NAMESPACES, Inheritable, Source

_OWN: Final[dict[Inheritable, str]] = {name: f"own_{name}" for name in INHERITABLE}
_Lines = Annotated[str, Meta(max_length=60_000)]


class Options(Form, frozen=True):
    """tags: separated by commas or lines. ignore: one selector per line. everything: each frame is an event.
    follow: report each new entry with the text of its page, also from other hosts (`follow_hosts`, as tags).
    own_...: a setting that ignores tags."""

    title: ask.Title = ""
    tags: Annotated[str, Meta(max_length=6_000)] = ""
    selector: ask.Selector | None = None
    ignore: _Lines = ""
    schedule: ask.Schedule | None = None
    hours: ask.Hours | None = None
    bar: ask.Bar | None = None
    filter: ask.PushFilter | None = None
    everything: bool = False
    subprotocols: Annotated[str, Meta(max_length=2_000)] = ""
    hello: ask.Hello | None = None
    replies: _Lines = ""
    headers: ask.Headers | None = None
    headers_for: Annotated[str, Meta(max_length=6_000)] = ""
    follow: bool = False
    follow_hosts: Annotated[str, Meta(max_length=6_000)] = ""
    render: ask.RenderWish | None = None
    wait_for: ask.WaitFor | None = None
    screenshots: bool = False
    own_schedule: bool = False
    own_hours: bool = False
    own_bar: bool = False
    own_selector: bool = False
    own_ignore: bool = False

    @property
    def wanted(self) -> str | None:
        """The query that frames must match; "" matches all."""
        return "" if self.everything else self.filter


def settings_in(form: Options) -> dict[str, Any]:
    """Return the form's settings, by the names of a request's fields. Raises Wrong."""
    asked_otherwise = ("everything", *_OWN.values())
    plain = {name: getattr(form, name) for name in Options.__struct_fields__ if name not in asked_otherwise}
    if form.render is None:  # the form did not ask
        del plain["render"]
    read = {
        "tags": tags_of(form),
        "ignore": ignore_of(form),
        "subprotocols": checked("subprotocols", words_in(form.subprotocols), ask.Subprotocols),
        "follow_hosts": checked("follow_hosts", words_in(form.follow_hosts), ask.FollowHosts),
        "replies": checked("replies", lines_in(form.replies), ask.Replies),
        "headers_for": checked("headers_for", words_in(form.headers_for), ask.HeadersFor),
        "own_only": own_of(form),
    }
    return plain | read | {"filter": form.wanted, "follow": "new_links" if form.follow else "none"}


def shown_of(source: Source) -> dict[str, Any]:
    """Return the form's fields for an existing source. Its secrets are never shown."""
    unshown = ("everything", "hello", "headers", *_OWN.values())
    plain = {name: getattr(source, name) for name in Options.__struct_fields__ if name not in unshown}
    return plain | {
        "tags": ", ".join(labels(source)),
        "ignore": "\n".join(source.ignore),
        "schedule": None if source.schedule is None else interval_text(source.schedule),
        "filter": source.filter or None,
        "everything": source.filter == "",
        "follow": source.follow != "none",
        "follow_hosts": ", ".join(source.follow_hosts),
        "headers_for": ", ".join(source.headers_for),
        "subprotocols": ", ".join(source.subprotocols),
        "replies": "\n".join(source.replies),
        **{field: name in source.own_only for name, field in _OWN.items()},
    }


def words_in(text: str) -> tuple[str, ...]:
    r"""Split a text at commas and line ends.

    >>> words_in(" prices, topic:sea,,\nnews ")
    ('prices', 'topic:sea', 'news')
    """
    return tuple(word for part in text.replace("\n", ",").split(",") if (word := part.strip()))


def lines_in(text: str) -> tuple[str, ...]:
    """Return the non-empty lines. Commas have their own meaning in selectors."""
    return tuple(line.strip() for line in text.split("\n") if line.strip())


def tags_of(form: Options) -> tuple[str, ...]:
    tags: tuple[str, ...] = checked("tags", words_in(form.tags), ask.Tags)
    return tags


def own_of(form: Options) -> tuple[Inheritable, ...]:
    return tuple(name for name, field in _OWN.items() if getattr(form, field))


def ignore_of(form: Options) -> tuple[str, ...]:
    selectors: tuple[str, ...] = checked("ignore", lines_in(form.ignore), ask.Ignore)
    return selectors


def checked(field: str, value: Any, kind: Any) -> Any:
    """Return a value as the API would accept it. Raises Wrong with the error at its field."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise Wrong(**{field: translated(plainly(str(error)))}) from None


DEFAULTS_PATH: Final = "/sources/tags/defaults"
MOST_OFFERED: Final = 100
"""Destinations to offer; others can be set over the API."""
LABELS: Final[dict[Inheritable, str]] = {
    "schedule": noted("Interval"),
    "hours": noted("Only in these hours"),
    "bar": noted("Reported from this score"),
    "selector": noted("Only this part"),
    "ignore": noted("Not these parts"),
}


class TagQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The tag."""

    tag: Annotated[str, Meta(max_length=200)] = ""


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
    """Return the settings that a source inherits from its tags."""
    found = []
    for name, tags in origins_of(source).items():
        value = getattr(source, name)
        one = interval_text(value) if name == "schedule" else str(value)
        found.append(_inherited(name, list(value) if name == "ignore" else [one], tags))
    return found


def inherited_part(
    selector: str | None, ignore: Sequence[str], origins: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """Return the inherited settings of a shown page: its selector and ignored parts."""
    values: dict[Inheritable, Sequence[str]] = {"selector": [selector or ""], "ignore": ignore}
    return [_inherited(name, values[name], origins[name]) for name in values if name in origins]


def _inherited(name: Inheritable, values: Sequence[str], tags: Sequence[str]) -> dict[str, Any]:
    """Return an inherited setting: its label, its texts, the tags by name, and the first tag's page."""
    called = ", ".join(tag.removeprefix("label:") for tag in tags)
    return {"label": LABELS[name], "texts": values, "tags": called, "to": defaults_path(tags[0])}


async def show_defaults(visit: Visit) -> Page:
    asked = visit.draft.value("tag") or visit.query.tag
    try:
        found = await acts.asked(visit, asked)
    except Unprocessable:  # a tag of the service's own
        raise NotFound(acts.NO_TAG) from None
    defaults = found.defaults
    settings = ask.TagSettings() if defaults is None else acts.settings_of(defaults)
    plain = {name: getattr(settings, name) for name in Options.__struct_fields__ if name in settings.__struct_fields__}
    kept = await visit.context.storage.alerts.destinations()
    names = {alert.id: alert.name for alert in await visit.context.storage.alerts.all()}
    chosen = set(found.destinations)
    offered = sorted(kept, key=lambda one: one.id not in chosen)[:MOST_OFFERED]
    shows = {
        "tag": found.tag.removeprefix("label:"),
        "found": found,
        "form": Options(**plain | {"ignore": "\n".join(settings.ignore)}),
        "chosen": chosen,
        "revision": "" if defaults is None else revision_of(defaults),
        "offered": [(one.id, one.label, names.get(one.alert_id, "")) for one in offered],
        "here": defaults_path(found.tag),
    }
    return Page("sources/tag_defaults.html", say("Defaults of %(tag)s", tag=shows["tag"]), shows)


async def save_defaults(visit: Visit) -> Go:
    """Set the defaults of a tag, unless someone else changed them in the meantime."""
    form: TagForm = visit.form
    given = settings_in(form) | {"destinations": form.destinations}
    settings = ask.TagSettings(**{name: given[name] for name in ask.TagSettings.__struct_fields__ if name != "managed"})
    if settings.says_nothing:
        raise Wrong(say("No default is set. To remove the defaults, use the button below."))
    before = (await acts.asked(visit, form.tag)).defaults
    if (revision_of(before) if before is not None else "") != form.revision:
        raise Stale
    found = await acts.put(visit, form.tag, settings, frozenset((form.revision,)) if form.revision else None)
    return Go(defaults_path(found.tag), say("Saved. Its sources follow within one interval."))


async def forget(visit: Visit) -> Go:
    form: Forgetting = visit.form
    await acts.delete(visit, form.tag)
    return Go("/sources/tags", say("“%(tag)s” has no defaults any more. Its sources keep the tag.", tag=form.tag))


SCREENS: tuple[Screen, ...] = (
    Screen(path=DEFAULTS_PATH, run=show_defaults, query=TagQuery),
    post(DEFAULTS_PATH, save_defaults, TagForm, show_defaults),
    post(f"{DEFAULTS_PATH}/forget", forget, Forgetting, show_defaults),
)
