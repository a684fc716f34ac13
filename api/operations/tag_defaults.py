"""Tags and their defaults, for any face: settings for all sources with a tag, and for new alerts over it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from actors.errors import NotFound, Unprocessable
from actors.inheriting import defaults_of
from actors.messages.requests import TagSettings
from actors.messages.sources import SetTagDefaults
from api.operations import alerts, destinations, sources
from api.operations.context import OperationContext
from api.operations.whole import whole
from api.schemas.alerts import NewAlert
from storage.records.alert import Alert
from storage.records.destination import Destination
from storage.records.revision import Expected
from storage.records.source import OWN_NAMESPACES, tag_of
from storage.records.tag_defaults import TagDefaults
from storage.records.times import interval_text
from supervision import Reply

LONGEST = 100
"""The longest tag, in characters."""
NO_TAG = "There is no such tag: write <namespace>:<value>, or a word."


class Tag(NamedTuple):
    """A tag. sources: those that have it; below: those that have it or one below it ("news/se" of "news").

    defaults: as stored. destinations: those of the defaults that still exist.
    """

    tag: str
    sources: int
    below: int
    defaults: TagDefaults | None
    destinations: tuple[str, ...] = ()


def tag_in(text: str) -> str:
    """Return a tag with its namespace. Raises NotFound for an invalid tag, Unprocessable for the service's own.

    >>> tag_in("prices"), tag_in("topic:ai")
    ('label:prices', 'topic:ai')
    """
    tag = tag_of(text.strip())
    space, _, word = tag.partition(":")
    if not (space and word and tag.isprintable()) or len(tag) > LONGEST + len("label:"):
        raise NotFound(NO_TAG)
    if space in OWN_NAMESPACES:
        raise Unprocessable(f"the namespace {space!r} is the service's own; take another, or none", "path.tag", text)
    return tag


async def every(call: OperationContext) -> Sequence[Tag]:
    """Return all tags given by people, and those with defaults, by name."""
    counts, there = await sources.tags(call), await _there(call)
    kept = {one.tag: one for one in await call.context.storage.tag_defaults.all()}
    names = {name for name in counts if not name.endswith(("/*", ":*"))} | kept.keys()
    ours = (name for name in names if name.partition(":")[0] not in OWN_NAMESPACES)
    return [_tag(name, counts, kept.get(name), there) for name in sorted(ours)]


async def named(call: OperationContext, text: str) -> Tag:
    """Return one tag. Raises NotFound if no source has it or one below it, and it has no defaults."""
    found = await asked(call, text)
    if not found.below and found.defaults is None:
        raise NotFound(f"No source has the tag {found.tag}, and it has no defaults.")
    return found


async def asked(call: OperationContext, text: str) -> Tag:
    """Return one tag, used or not. Raises Unprocessable."""
    tag = tag_in(text)
    stored, counts = await call.context.storage.tag_defaults.get(tag), await sources.tags(call)
    return _tag(tag, counts, stored, await _there(call))


async def put(call: OperationContext, text: str, settings: TagSettings, expected: Expected = None) -> Tag:
    """Replace the defaults of a tag. Raises Unprocessable, Stale, Conflict."""
    tag = tag_in(text)
    if settings.says_nothing:
        raise Unprocessable("nothing is set: to take the defaults of a tag away, delete them", "body")
    if settings.schedule is not None:
        sources.check_schedule(settings.schedule, "body.schedule")
    there = await _there(call)
    for index, id in enumerate(settings.destinations):
        if id not in there:
            raise Unprocessable(f"there is no destination {id}", f"body.destinations[{index}]", id)
    wish = replace(settings, destinations=tuple(dict.fromkeys(settings.destinations)))
    made = await _set(call, tag, wish, expected)
    return _tag(tag, await sources.tags(call), made, there)


async def delete(call: OperationContext, text: str, expected: Expected = None) -> None:
    """Delete the defaults of a tag; its sources keep the tag. Raises NotFound, Stale."""
    tag = tag_in(text)
    await _set(call, tag, None, expected)


async def _set(
    call: OperationContext, tag: str, settings: TagSettings | None, expected: Expected
) -> TagDefaults | None:
    def message(reply: Reply[TagDefaults | None]) -> SetTagDefaults:
        return SetTagDefaults(tag, settings, reply, expected, call.by)

    return await sources.asked(call, message, looks=True)


async def give(call: OperationContext, old: str, new: str) -> None:
    """Copy the defaults of a tag to another one, unless that has some."""
    found = await asked(call, old)
    if found.defaults is not None and (await asked(call, new)).defaults is None:
        settings = settings_of(replace(found.defaults, destinations=found.destinations))
        if not settings.says_nothing:
            await put(call, new, settings)


def settings_of(defaults: TagDefaults) -> TagSettings:
    """Return a tag's defaults in the request format, without the mark of the files that describe them."""
    kept = {name: getattr(defaults, name) for name in TagSettings.__struct_fields__ if name != "managed"}
    return TagSettings(**kept | {"schedule": None if defaults.schedule is None else interval_text(defaults.schedule)})


# --- alerts over tags ------------------------------------------------------------------------------------------------


async def add_alert(call: OperationContext, new: NewAlert, planned: str | None = None) -> Alert:
    """Add an alert, with copies of its tags' default destinations. Raises as `alerts.add`."""
    alert = await alerts.add(call, new, planned)
    if alert.tags and new.default_destinations:
        await _tell(call, alert)
    return alert


@whole
async def _tell(call: OperationContext, alert: Alert) -> None:
    """Give a new alert its tags' destinations, each once, within the limits."""
    by_tag = {one.tag: one for one in await call.context.storage.tag_defaults.all()}
    wanted = dict.fromkeys(id for one in defaults_of(alert.tags, by_tag) for id in one.destinations)
    if not wanted:
        return
    there = await _there(call)
    if any(one.alert_id == alert.id for one in there.values()):
        return  # a repeated call finds them there
    for id in [id for id in wanted if id in there][: destinations.MOST_OF_AN_ALERT]:
        if len(there) < destinations.MOST_DESTINATIONS:
            copied = await destinations.copy(call, there[id], alert)
            there[copied.id] = copied
    await alerts.put_in_force(call)


async def _there(call: OperationContext) -> dict[str, Destination]:
    return {one.id: one for one in await call.context.storage.alerts.destinations()}


def _tag(tag: str, counts: Mapping[str, int], defaults: TagDefaults | None, there: Collection[str]) -> Tag:
    kept = () if defaults is None else tuple(id for id in defaults.destinations if id in there)
    return Tag(tag, counts.get(tag, 0), counts.get(f"{tag}/*", 0), defaults, kept)
