"""Webhook bins, for callers with a key: create, list, read. Strangers' requests to them arrive in `bin_endpoint.py`."""

from __future__ import annotations

from base64 import b64encode

from actors.bins import Bins
from api.operations import bins as acts
from api.pagination import next_page, oldest_first, place
from api.route import Answer, Call, routes_below
from api.schemas import bins as wire
from api.schemas.sources import ListQuery
from storage.records.bin import Bin, Capture
from storage.records.identity import rfc3339


def record_of(bin: Bin, bins: Bins) -> wire.BinRecord:
    return wire.BinRecord(
        id=bin.id, url=bins.address(bin), created_at=rfc3339(bin.created_at), expires_at=rfc3339(bin.expires_at)
    )


def capture_of(capture: Capture, check: wire.SignatureCheck) -> wire.CaptureRecord:
    """Return a capture's record, in a form that `sanderling verify` also reads."""
    body: dict[str, str]
    try:
        body = {"body": capture.body.decode()}
    except UnicodeDecodeError:
        body = {"body_base64": b64encode(capture.body).decode()}
    return wire.CaptureRecord(
        id=capture.id,
        received_at=rfc3339(capture.received_at),
        method=capture.method,
        path=capture.path,
        query=capture.query,
        headers=capture.headers,
        size=capture.size,
        truncated=capture.truncated,
        signature_check=check,
        **body,
    )


async def create(call: Call) -> Answer:
    bins = acts.bins_of(call)
    bin = await bins.mint(call.planned)
    headers = {"Location": f"{call.context.settings.public_url()}/v1/webhook-bins/{bin.id}"}
    return Answer(record_of(bin, bins), 201, headers=headers)


async def list_bins(call: Call) -> Answer:
    """Return a page of bins, oldest first."""
    bins = acts.bins_of(call)
    page, headers = oldest_first(call, await acts.every(call))
    return Answer([record_of(bin, bins) for bin in page], headers=headers)


async def describe(call: Call) -> Answer:
    return Answer(record_of(await acts.named(call, call.path["id"]), acts.bins_of(call)))


async def delete(call: Call) -> Answer:
    await acts.delete(call, call.path["id"])
    return Answer(status=204)


async def captures(call: Call) -> Answer:
    """Return a bin's captures, newest first."""
    bin, query = await acts.named(call, call.path["id"]), call.query
    page, more = await acts.captures(call, bin, place(call, int), query.limit)
    found = [capture_of(seen.capture, seen.check) for seen in page]
    return Answer(found, headers=next_page(call, page[-1].number if more else None))


_route = routes_below("/v1/webhook-bins", "bins")
_MAYBE = ("not-found",)
ROUTES = (
    _route(
        "POST",
        "",
        create,
        "Create a bin: an address that stores requests.",
        {201: wire.BinRecord},
        refuses=("conflict",),
        headers=("Location",),
        repeatable=True,
    ),
    _route(
        "GET",
        "",
        list_bins,
        "List bins, oldest first.",
        {200: list[wire.BinRecord]},
        query=ListQuery,
        headers=("Link",),
    ),
    _route("GET", "/{id}", describe, "Read one bin.", {200: wire.BinRecord}, refuses=_MAYBE),
    _route("DELETE", "/{id}", delete, "Delete one bin and its captures.", {204: None}, refuses=_MAYBE),
    _route(
        "GET",
        "/{id}/captures",
        captures,
        "List the requests to a bin, newest first.",
        {200: list[wire.CaptureRecord]},
        query=wire.CapturesQuery,
        refuses=_MAYBE,
        headers=("Link",),
    ),
)
