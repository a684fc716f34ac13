"""The settings of a source as form fields, and those that it inherits from its tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Meta, Struct, defstruct
from msgspec.structs import fields

from actors.errors import NotFound, Stale, Unprocessable
from actors.inheritance import INHERITABLE, origins_of
from actors.language.sentences import translated
from actors.language.speaking import noted, say
from actors.messages import requests as ask
from actors.messages.declaring import Declared, made_of, mirrored, part_of
from api.dashboard.forms import Form, InvalidForm
from api.dashboard.screen import Go, Page, Screen, Visit, post
from api.dashboard.sources.display import labels
from api.nouns import tags as acts
from api.refusal_words import plainly
from storage.records.identity import interval_text
from storage.records.revision import revision_of
from storage.records.source import OWN_NAMESPACES, Inheritable, Source

_OWN: Final[dict[Inheritable, str]] = {name: f"own_{name}" for name in INHERITABLE}
_ELSEWHERE: Final = ("url", "type", "backfill", "enabled", "own_only", "managed", "verify")
_ASKED: Final = [one for one in fields(ask.NewSource) if one.name not in _ELSEWHERE]
_LISTS: Final = {one.name: one.type for one in _ASKED if one.default == ()}
_BY_LINE: Final = ("ignore", "replies")
"""Lists whose items may have commas."""
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
    items: tuple[str, ...] = checked(
        name, (lines_in if name in _BY_LINE else words_in)(getattr(form, name)), _LISTS[name]
    )
    return items


def checked(field: str, value: Any, kind: Any) -> Any:
    """Return a value as the API would accept it. Raises InvalidForm with the error at its field."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise InvalidForm(**{field: translated(plainly(str(error)))}) from None


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


SCREENS: tuple[Screen, ...] = (
    Screen(path=DEFAULTS_PATH, run=show_defaults, query=TagQuery),
    post(DEFAULTS_PATH, save_defaults, TagForm, show_defaults),
    post(f"{DEFAULTS_PATH}/forget", forget, Forgetting, show_defaults),
)
