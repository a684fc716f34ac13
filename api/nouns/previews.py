"""Detection and previews: the events that watching a URL would produce."""

from __future__ import annotations

from actors.messages import requests
from actors.messages.declaring import made_of
from actors.messages.requests import DetectRequest
from api.fields import previews as wire
from api.fields.sources import PreviewRequest
from api.nouns import sources
from api.route import Answer, Call, Routes
from storage.records.secrecy import where_it_led


def preview_of(shown: requests.Preview) -> wire.Preview:
    return made_of(wire.Preview, shown)


def detection_of(url: str, found: requests.Previewed) -> wire.DetectAnswer:
    return made_of(
        wire.DetectAnswer,
        found.detection,
        url=url,
        supported=True,
        discovered_feed_url=found.detection.feed_url,
        source_id=found.source,
        final_url=where_it_led(found.detection.final_url, url),
        preview=preview_of(found.preview),
    )


ROUTES = Routes("/v1/sources", "sources")
_WRONG = ("url-refused", "unprocessable")


@ROUTES("POST", "/detect", {200: wire.DetectAnswer}, body=(DetectRequest,), refuses=_WRONG)
async def detect(call: Call) -> Answer:
    """Classify a URL without watching it, and preview its events."""
    return Answer(detection_of(call.body.url, await sources.detect(call, call.body)))


@ROUTES("POST", "/{id}/preview", {200: wire.Preview}, beside=("sources:read",), body=(PreviewRequest,), refuses=_WRONG)
async def preview(call: Call) -> Answer:
    """Preview another selector on a watched page."""
    return Answer(preview_of(await sources.preview(call, call.path["id"], call.body)))
