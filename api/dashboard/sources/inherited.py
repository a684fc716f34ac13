"""A tag's defaults as a form, and the display of inherited settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, NamedTuple
from urllib.parse import quote

from msgspec import Meta, Struct

from actors.errors import NotFound, Stale, Unprocessable
from actors.inheriting import origins_of
from actors.messages import requests as ask
from api.dashboard.forms import Form, Wrong
from api.dashboard.language.speaking import noted, say
from api.dashboard.screen import Go, Page, Screen, Visit
from api.dashboard.sources.options import Options, settings_in
from api.operations import tag_defaults as acts
from storage.records.revision import revision_of
from storage.records.source import OWN_NAMESPACES, Inheritable, Source
from storage.records.times import interval_text

PATH: Final = "/sources/tags/defaults"
MOST_OFFERED: Final = 100
"""Destinations to offer; others can be set over the API."""
LABELS: Final[dict[Inheritable, str]] = {
    "schedule": noted("Interval"),
    "hours": noted("Only in these hours"),
    "bar": noted("Told from this score on"),
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


class Inherited(NamedTuple):
    """An inherited setting: its label, its values, the tags by name, and the first tag's page."""

    label: str
    values: Sequence[str]
    tags: str
    to: str


class Offered(NamedTuple):
    """A destination that new alerts may get a copy of."""

    id: str
    label: str
    alert: str


def address(tag: str) -> str:
    """Return the page of a tag's defaults, or "" for the service's own tags and whole namespaces.

    >>> address("news/*"), address("topic:*"), address("")
    ('/sources/tags/defaults?tag=news', '', '')
    """
    tag = tag.removesuffix("/*")
    ours = tag.partition(":")[0] in OWN_NAMESPACES
    return "" if not tag or tag.endswith(":*") or ours else f"{PATH}?tag={quote(tag, safe='')}"


def inherited(source: Source) -> Iterator[Inherited]:
    """Yield the settings that a source inherits from its tags."""
    for name, tags in origins_of(source).items():
        value = getattr(source, name)
        one = interval_text(value) if name == "schedule" else str(value)
        yield _inherited(name, list(value) if name == "ignore" else [one], tags)


def inherited_part(
    selector: str | None, ignore: Sequence[str], origins: Mapping[str, Sequence[str]]
) -> list[Inherited]:
    """Return the inherited settings of a shown page: its selector and ignored parts."""
    values: dict[Inheritable, Sequence[str]] = {"selector": [selector or ""], "ignore": ignore}
    return [_inherited(name, values[name], origins[name]) for name in values if name in origins]


def _inherited(name: Inheritable, values: Sequence[str], tags: Sequence[str]) -> Inherited:
    called = ", ".join(tag.removeprefix("label:") for tag in tags)
    return Inherited(LABELS[name], values, called, address(tags[0]))


async def show(visit: Visit) -> Page:
    """Show the defaults of a tag in a form."""
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
        "offered": [Offered(one.id, one.label, names.get(one.alert_id, "")) for one in offered],
        "here": address(found.tag),
    }
    return Page("sources/tag_defaults.html", say("Defaults of %(tag)s", tag=shows["tag"]), shows)


async def save(visit: Visit) -> Go:
    """Set the defaults of a tag, unless someone else changed them in the meantime."""
    form: TagForm = visit.form
    given = settings_in(form) | {"destinations": form.destinations}
    settings = ask.TagSettings(**{name: given[name] for name in ask.TagSettings.__struct_fields__ if name != "managed"})
    if settings.says_nothing:
        raise Wrong(say("Nothing is set. To take the defaults away, use the button below."))
    before = (await acts.asked(visit, form.tag)).defaults
    if (revision_of(before) if before is not None else "") != form.revision:
        raise Wrong(_stale())
    try:
        expected = frozenset((form.revision,)) if form.revision else None
        found = await acts.put(visit, form.tag, settings, expected)
    except Stale:
        raise Wrong(_stale()) from None
    return Go(address(found.tag), say("Saved. Its sources follow: each is looked at within one interval."))


def _stale() -> str:
    return say("The defaults have been changed in another place since you opened this form. Open it anew.")


async def forget(visit: Visit) -> Go:
    form: Forgetting = visit.form
    await acts.delete(visit, form.tag)
    return Go("/sources/tags", say("“%(tag)s” has no defaults any more. Its sources keep the tag.", tag=form.tag))


SCREENS = (
    Screen(path=PATH, run=show, query=TagQuery),
    Screen(method="POST", path=PATH, run=save, form=TagForm, again=show),
    Screen(method="POST", path=f"{PATH}/forget", run=forget, form=Forgetting, again=show),
)
