"""Webhook bins."""

from __future__ import annotations

from api.openapi.operation import Operation

_TAG = "Webhook bins"
OPERATIONS: dict[str, Operation] = {
    "POST /v1/webhook-bins": Operation(
        name="addBin",
        tag=_TAG,
        explains="""\
Whoever knows `url` can send to it for 7 days, by any method and with anything behind a slash, and is answered `ok`. \
Give it to a destination of this service: deliveries then reach it without leaving the machine, also on a machine \
that no receiver could be reached from.""",
        leads={"readBin": "id", "listCaptures": "id", "deleteBin": "id"},
    ),
    "GET /v1/webhook-bins": Operation(name="listBins", tag=_TAG, explains="Those that have not expired."),
    "GET /v1/webhook-bins/{id}": Operation(name="readBin", tag=_TAG, explains="Where it is, and until when."),
    "DELETE /v1/webhook-bins/{id}": Operation(
        name="deleteBin", tag=_TAG, explains="What it captured goes with it; its address is 404 from then on."
    ),
    "GET /v1/webhook-bins/{id}/captures": Operation(
        name="listCaptures",
        tag=_TAG,
        explains="""\
Each request with every header in order and the bytes of its body: as text in `body`, or in `body_base64` when they \
are not UTF-8. The last 100 are kept, of each body 256 KiB, of all bins together 64 MiB; the oldest go first.

`signature_check` says of both signatures whether they held when the request came, and why not. The list is a file \
that `sanderling verify` reads.""",
    ),
}
