"""Tags with their counts and defaults; the operations are in `api.nouns.tag_defaults`."""

from __future__ import annotations

from actors.messages.declaring import mirrored
from actors.messages.requests import TagSettings
from api.cursors import ListQuery
from api.etags import expected, expected_by_put, shown, tag_of
from api.fields import sources as wire
from api.nouns import tag_defaults as acts
from api.nouns.tag_defaults import Tag
from api.pagination import next_page, place
from api.problems import Refusal
from api.route import Answer, Call, routes_below
from storage.records.revision import revision_of
from storage.records.source import TagDefaults

_TELLS = "alerts:write"


def record_of(tag: Tag) -> wire.TagRecord:
    defaults = None if tag.defaults is None else _defaults(tag.defaults, tag.destinations)
    return wire.TagRecord(tag=tag.tag, sources=tag.sources, sources_below=tag.below, defaults=defaults)


def _defaults(defaults: TagDefaults, destinations: tuple[str, ...]) -> wire.TagDefaultsRecord:
    shown = {"destinations": destinations, "revision": revision_of(defaults)}
    return wire.TagDefaultsRecord(**mirrored(defaults, wire.TagDefaultsRecord) | shown)


async def list_tags(call: Call) -> Answer:
    """Return a page of tags, by name."""
    after = place(call, str) or ""
    rest = [tag for tag in await acts.every(call) if tag.tag > after]
    page = rest[: call.query.limit]
    headers = next_page(call, page[-1].tag if len(rest) > len(page) else None)
    return Answer([record_of(tag) for tag in page], headers=headers)


async def describe(call: Call) -> Answer:
    found = await acts.named(call, call.path["tag"])
    record = record_of(found)
    return Answer(record) if found.defaults is None else shown(call, found.defaults, record)


async def put(call: Call) -> Answer:
    """Replace the defaults of a tag."""
    settings: TagSettings = call.body
    if settings.destinations and (call.key is None or _TELLS not in call.key.scopes):
        raise Refusal("forbidden", f"Destinations of a tag (`destinations`) need the scope {_TELLS}.")
    found = await acts.put(call, call.path["tag"], settings, expected_by_put(call))
    assert found.defaults is not None, "it was set just now"
    return Answer(record_of(found), headers=tag_of(found.defaults))


async def delete(call: Call) -> Answer:
    await acts.delete(call, call.path["tag"], expected(call))
    return Answer(status=204)


_route = routes_below("/v1/tags", "sources")
_TAGGED = ("ETag",)
ROUTES = (
    _route(
        "GET",
        "",
        list_tags,
        "List tags by name, with their defaults.",
        {200: list[wire.TagRecord]},
        query=ListQuery,
        headers=("Link",),
    ),
    _route(
        "GET",
        "/{tag}",
        describe,
        "Read one tag with its defaults.",
        {200: wire.TagRecord, 304: None},
        refuses=("not-found", "unprocessable"),
        headers=_TAGGED,
    ),
    _route(
        "PUT",
        "/{tag}",
        put,
        "Replace all defaults of a tag.",
        {200: wire.TagRecord},
        body=(TagSettings,),
        refuses=("not-found", "conflict", "precondition-failed", "unprocessable"),
        headers=_TAGGED,
    ),
    _route(
        "DELETE",
        "/{tag}",
        delete,
        "Delete the defaults of a tag; its sources keep the tag.",
        {204: None},
        refuses=("not-found", "precondition-failed", "unprocessable"),
    ),
)
