"""Publications in the API; readers without a key use `extras/publish/`."""

from __future__ import annotations

from actors.messages.declaring import mirrored
from api.cursors import ListQuery
from api.etags import etag_of, expected, shown
from api.pagination import oldest_first
from api.route import LETS_OUT, Answer, Call, routes_below
from extras.publish import operations as acts
from extras.publish import schemas as wire
from storage.records.publication import Publication
from storage.records.revision import revision_of


def record_of(call: Call, publication: Publication) -> wire.PublicationRecord:
    url = acts.address(call, publication)
    feeds = None if url is None else wire.FeedAddresses(atom=f"{url}.atom", rss=f"{url}.rss", json=f"{url}.json")
    fields = mirrored(publication, wire.PublicationRecord) | {"revision": revision_of(publication)}
    return wire.PublicationRecord(**fields, url=url, feeds=feeds)


async def create(call: Call) -> Answer:
    made = await acts.add(call, call.body, call.planned)
    headers = {"Location": f"{call.context.settings.public_url()}/v1/publications/{made.id}"}
    return Answer(record_of(call, made), 201, headers=headers | etag_of(made))


async def list_publications(call: Call) -> Answer:
    """Return a page of publications, oldest first."""
    page, headers = oldest_first(call, await acts.every(call))
    return Answer([record_of(call, each) for each in page], headers=headers)


async def describe(call: Call) -> Answer:
    found = await acts.named(call, call.path["id"])
    return shown(call, found, record_of(call, found))


async def patch(call: Call) -> Answer:
    changed = await acts.change(call, call.path["id"], call.body, expected(call))
    return Answer(record_of(call, changed), headers=etag_of(changed))


async def readdress(call: Call) -> Answer:
    changed = await acts.readdress(call, call.path["id"])
    return Answer(record_of(call, changed), headers=etag_of(changed))


async def delete(call: Call) -> Answer:
    await acts.delete(call, call.path["id"], expected(call))
    return Answer(status=204)


_route = routes_below("/v1/publications", "publications")
_ONE = {200: wire.PublicationRecord}
_MAYBE = ("not-found",)
_TAGGED = ("ETag",)
ROUTES = (
    _route(
        "POST",
        "",
        create,
        "Publish events as feeds and a page.",
        {201: wire.PublicationRecord},
        beside=LETS_OUT,
        body=(wire.NewPublication,),
        refuses=("conflict", "unprocessable"),
        headers=("Location", *_TAGGED),
        repeatable=True,
    ),
    _route(
        "GET",
        "",
        list_publications,
        "List publications, oldest first.",
        {200: list[wire.PublicationRecord]},
        query=ListQuery,
        headers=("Link",),
    ),
    _route("GET", "/{id}", describe, "Read one publication.", _ONE | {304: None}, refuses=_MAYBE, headers=_TAGGED),
    _route(
        "PATCH",
        "/{id}",
        patch,
        "Change one publication.",
        _ONE,
        beside=LETS_OUT,
        body=(wire.PublicationPatch,),
        refuses=("not-found", "precondition-failed", "unprocessable"),
        headers=_TAGGED,
    ),
    _route(
        "POST",
        "/{id}/address",
        readdress,
        "Give a publication another address.",
        _ONE,
        beside=LETS_OUT,
        refuses=_MAYBE,
        headers=_TAGGED,
    ),
    _route(
        "DELETE",
        "/{id}",
        delete,
        "Delete one publication.",
        {204: None},
        refuses=(*_MAYBE, "precondition-failed"),
    ),
)
