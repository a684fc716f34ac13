"""Tags and their defaults: settings for all sources with a tag, and renaming one everywhere; their routes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from actors.errors import NotFound, Unprocessable
from actors.messages.declaring import made_of
from actors.messages.requests import TagSettings
from actors.messages.sources import SetTagDefaults
from actors.messages.views import SourceSelection
from api.etags import deleting, etag_of, expected_by_put, shown
from api.fields import sources as wire
from api.fields.queries import ListQuery
from api.nouns import alerts, sources
from api.nouns.alerts import tags_in
from api.nouns.context import OperationContext
from api.nouns.sources import Failed
from api.pagination import next_page, place
from api.problems import Refusal
from api.route import Answer, Call, Routes
from storage.records.destination import Destination
from storage.records.publication import Publication
from storage.records.revision import Expected, revision_of
from storage.records.source import OWN_NAMESPACES, TagDefaults, tag_of

LONGEST = 100  # the longest tag, in characters
NO_TAG = "There is no such tag: write <namespace>:<value>, or a word."


class Tag(NamedTuple):
    """A tag. below: sources with it or one below it ("news/se" of "news"). destinations: those of `defaults`."""

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
    counts, there = await sources.tags(call), await _there(call)
    kept = {kept.tag: kept for kept in await call.context.storage.tag_defaults.all()}
    names = {name for name in counts if not name.endswith(("/*", ":*"))} | kept.keys()
    ours = (name for name in names if name.partition(":")[0] not in OWN_NAMESPACES)
    return [_tag(name, counts, kept.get(name), there) for name in sorted(ours)]


async def named(call: OperationContext, text: str) -> Tag:
    """Return one tag. Raises NotFound if no source has it or one below it, and it has no defaults."""
    found = await find(call, text)
    if not found.below and found.defaults is None:
        raise NotFound(f"No source has the tag {found.tag}, and it has no defaults.")
    return found


async def find(call: OperationContext, text: str) -> Tag:
    """Return one tag, used or not. Raises Unprocessable."""
    tag = tag_in(text)
    stored, counts = await call.context.storage.tag_defaults.get(tag), await sources.tags(call)
    return _tag(tag, counts, stored, await _there(call))


async def put(call: OperationContext, text: str, settings: TagSettings, expected: Expected = None) -> Tag:
    """Replace the defaults of a tag. Raises Unprocessable, Stale, Conflict."""
    tag = tag_in(text)
    if settings.says_nothing:
        raise Unprocessable("no default is set: delete the defaults to remove them", "body")
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
    await _set(call, tag_in(text), None, expected)


async def _set(
    call: OperationContext, tag: str, settings: TagSettings | None, expected: Expected
) -> TagDefaults | None:
    return await sources.ask_registry(call, lambda it: SetTagDefaults(tag, settings, it, expected, call.by), looks=True)


def settings_of(defaults: TagDefaults) -> TagSettings:
    """Return a tag's defaults in the request format, without the mark of the files that describe them."""
    return made_of(TagSettings, defaults, managed=UNSET)


async def _there(call: OperationContext) -> dict[str, Destination]:
    return {each.id: each for each in await call.context.storage.alerts.destinations()}


def _tag(tag: str, counts: Mapping[str, int], defaults: TagDefaults | None, there: Collection[str]) -> Tag:
    kept = () if defaults is None else tuple(id for id in defaults.destinations if id in there)
    return Tag(tag, counts.get(tag, 0), counts.get(f"{tag}/*", 0), defaults, kept)


MOST = 10_000  # sources that one call changes


class Renamed(NamedTuple):
    """The counts of renamed records and the failures. more: further sources remain."""

    sources: int
    alerts: int
    publications: int
    failed: Sequence[Failed]
    more: bool = False


def renamed(tags: Sequence[str], old: str, new: str) -> tuple[str, ...]:
    """Return tags with one renamed, and the tags below it too.

    >>> renamed(("label:news", "label:news/se", "label:newspapers"), "label:news", "label:press")
    ('label:press', 'label:press/se', 'label:newspapers')
    """
    below = f"{old}/"
    changed = (new + tag[len(old) :] if tag == old or tag.startswith(below) else tag for tag in tags)
    return tuple(dict.fromkeys(changed))


async def rename(call: OperationContext, old: str, new: str) -> Renamed:
    """Rename a tag and those below it everywhere. Raises Unprocessable.

    Alerts change first and have both names while sources change, so that they cover each source throughout.
    """
    (before,), (after,) = tags_in((old,)), sources.tags_of((new,), "body.tags")
    sources.tags_of((before,), "body.tags")
    told = [alert for alert in await call.context.storage.alerts.all() if _named(alert.tags, before, after)]
    for alert in told:
        both = tuple(dict.fromkeys((*alert.tags, *renamed(alert.tags, before, after))))
        await alerts.change(call, alert.id, {"tags": both})
    moved = await _give(call, before, after)
    ids = [view.id for view in await sources.every(call, MOST + 1, SourceSelection(tags=(f"{before}/*",)))]

    def theirs(tags: tuple[str, ...]) -> tuple[str, ...]:
        return renamed([tag for tag in tags if tag.partition(":")[0] not in OWN_NAMESPACES], before, after)

    outcomes = await sources.each(call, ids[:MOST], lambda call, id: sources.retag(call, id, theirs))
    failed = [failure for failure in outcomes if isinstance(failure, Failed)]
    more = len(ids) > MOST
    if not failed and not more:
        for alert in told:
            await alerts.change(call, alert.id, {"tags": renamed(alert.tags, before, after)})
        for tag in moved:
            with suppress(NotFound):  # deleted in the meantime
                await delete(call, tag)
    store, now = call.context.storage.publications, call.context.world.now()

    def with_both(record: Publication) -> Publication:  # its past events have the old name
        both = tuple(dict.fromkeys((*record.tags, *renamed(record.tags, before, after))))
        return record if both == record.tags else replace(record, tags=both, updated_at=now, updated_by=call.by)

    published = [each for each in await store.all() if _named(each.tags, before, after)]
    for each in published:
        await store.edit(each.id, with_both)
    return Renamed(len(outcomes) - len(failed), len(told), len(published), failed, more)


async def _give(call: OperationContext, old: str, new: str) -> Sequence[str]:
    """Copy defaults to the new names that have none; return the old names, to delete last: sources always inherit."""
    kept = await call.context.storage.tag_defaults.all()
    moved = [tag.tag for tag in kept if _named((tag.tag,), old, new)]
    for tag in moved:
        found, to = await find(call, tag), renamed((tag,), old, new)[0]
        if found.defaults is not None and (await find(call, to)).defaults is None:
            settings = settings_of(replace(found.defaults, destinations=found.destinations))
            if not settings.says_nothing:
                await put(call, to, settings)
    return moved


def _named(tags: Sequence[str], old: str, new: str) -> bool:
    return renamed(tags, old, new) != tuple(tags)


_TELLS = "alerts:write"


def record_of(tag: Tag) -> wire.TagRecord:
    defaults = None
    if (kept := tag.defaults) is not None:
        defaults = made_of(wire.TagDefaultsRecord, kept, destinations=tag.destinations, revision=revision_of(kept))
    return wire.TagRecord(tag=tag.tag, sources=tag.sources, sources_below=tag.below, defaults=defaults)


ROUTES = Routes("/v1/tags", "sources")
_TAGGED, _REFUSES = ("ETag",), ("precondition-failed", "unprocessable")


@ROUTES("GET", "", {200: list[wire.TagRecord]}, query=ListQuery, headers=("Link",))
async def list_tags(call: Call) -> Answer:
    """List tags by name, with their defaults."""
    after = place(call, str) or ""
    rest = [tag for tag in await every(call) if tag.tag > after]
    page = rest[: call.query.limit]
    headers = next_page(call, page[-1].tag if len(rest) > len(page) else None)
    return Answer([record_of(tag) for tag in page], headers=headers)


@ROUTES("GET", "/{tag}", {200: wire.TagRecord, 304: None}, refuses=("unprocessable",), headers=_TAGGED)
async def describe(call: Call) -> Answer:
    """Read one tag with its defaults."""
    found = await named(call, call.path["tag"])
    record = record_of(found)
    return Answer(record) if found.defaults is None else shown(call, found.defaults, record)


@ROUTES("PUT", "/{tag}", {200: wire.TagRecord}, body=(TagSettings,), refuses=("conflict", *_REFUSES), headers=_TAGGED)
async def _put(call: Call) -> Answer:
    """Replace all defaults of a tag."""
    settings: TagSettings = call.body
    if settings.destinations and (call.key is None or _TELLS not in call.key.scopes):
        raise Refusal("forbidden", f"Destinations of a tag (`destinations`) need the scope {_TELLS}.")
    found = await put(call, call.path["tag"], settings, expected_by_put(call))
    assert found.defaults is not None, "it was set just now"
    return Answer(record_of(found), headers=etag_of(found.defaults))


_DELETES = "Delete the defaults of a tag; its sources keep the tag."
ROUTES("DELETE", "/{tag}", {204: None}, says=_DELETES, refuses=_REFUSES)(deleting(delete))
