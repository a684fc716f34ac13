"""Webhook bins: made, listed and read here, with a key; what strangers send to them comes in by `api/bins_door.py`."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import trio

from actors.bins import Bins
from actors.errors import NotFound
from actors.signatures.event import KeySet
from api.pagination import next_page, oldest_first, place
from api.route import Answer, Call, Route
from api.v1 import bin_schemas as wire
from api.v1.alerts import path_id
from api.v1.capture_checks import check_capture, senders
from api.v1.schemas import ListQuery
from storage.records.bin import Bin, Capture
from storage.records.times import rfc3339

PAGE_SIZE = 1 << 20
"""Bytes of captures in one answer, if there is more than one."""


def _bins(call: Call) -> Bins:
    return Bins(call.doors.world, call.doors.storage, call.doors.settings.public_url())


def record_of(bin: Bin, bins: Bins) -> wire.BinRecord:
    """Return a bin's record."""
    return wire.BinRecord(
        id=bin.id, url=bins.address(bin), created_at=rfc3339(bin.created_at), expires_at=rfc3339(bin.expires_at)
    )


def capture_of(capture: Capture, check: wire.SignatureCheck) -> wire.CaptureRecord:
    """Return a capture's record: a form that `sanderling verify` reads as well."""
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


async def _bin_of(call: Call) -> Bin:
    """Return the bin in the path. Raises NotFound, also when it has expired and is not swept yet."""
    found = _bins(call).living(await call.doors.storage.bins.get(path_id(call, "bin")))
    if found is None:
        raise NotFound("There is no such bin, or it has expired.")
    return found


async def create(call: Call) -> Answer:
    """Make a bin."""
    bins = _bins(call)
    bin = await bins.mint(call.planned)
    headers = {"Location": f"{call.doors.settings.public_url()}/v1/webhook-bins/{bin.id}"}
    return Answer(record_of(bin, bins), 201, headers=headers)


async def list_bins(call: Call) -> Answer:
    """Return a page of bins, oldest first."""
    bins = _bins(call)
    page, headers = oldest_first(call, list(filter(bins.living, await call.doors.storage.bins.all())))
    return Answer([record_of(bin, bins) for bin in page], headers=headers)


async def describe(call: Call) -> Answer:
    """Return one bin."""
    return Answer(record_of(await _bin_of(call), _bins(call)))


async def delete(call: Call) -> Answer:
    """Forget a bin and what it captured."""
    bin = await _bin_of(call)
    await call.doors.storage.bins.delete(bin.id)
    return Answer(status=204)


async def captures(call: Call) -> Answer:
    """Return what a bin was sent, newest first."""
    bin = await _bin_of(call)
    query: wire.CapturesQuery = call.query
    page = await call.doors.storage.bins.captures(bin.id, place(call, int), query.limit, PAGE_SIZE)
    known = senders(await call.doors.storage.alerts.destinations(), bin, _bins(call))
    keys = KeySet(await call.doors.jwks())
    found = []
    for kept in page.captures:
        found.append(capture_of(kept.capture, await check_capture(kept.capture, known, keys)))
        await trio.lowlevel.checkpoint()
    return Answer(found, headers=next_page(call, page.captures[-1].number if page.more else None))


def _route(method: str, path: str, run: Any, says: str, answers: dict[int, Any], **more: Any) -> Route:
    scope = "bins:read" if method == "GET" else "bins:write"
    return Route(
        method=method, path=f"/v1/webhook-bins{path}", scope=scope, run=run, says=says, answers=answers, **more
    )


_MAYBE = ("not-found",)
ROUTES = (
    _route(
        "POST",
        "",
        create,
        "Make a bin: an address that keeps what it is sent.",
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
    _route("DELETE", "/{id}", delete, "Forget one bin and what it captured.", {204: None}, refuses=_MAYBE),
    _route(
        "GET",
        "/{id}/captures",
        captures,
        "List what a bin was sent, newest first.",
        {200: list[wire.CaptureRecord]},
        query=wire.CapturesQuery,
        refuses=_MAYBE,
        headers=("Link",),
    ),
)
