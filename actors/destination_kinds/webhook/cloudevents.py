"""CloudEvents 1.0.2, structured JSON mode: an envelope around an event or a digest. Pure.

https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md and `formats/json-format.md`. `data` is byte for
byte the body of a delivery without the envelope, so the events' own signatures hold.
"""

from __future__ import annotations

from typing import Final

import msgspec

MEDIA: Final = "application/cloudevents+json"
EVENT, NOTICE, DIGEST = "sanderling.event", "sanderling.notice", "sanderling.digest"


class Envelope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The context attributes and the data. `id` is the `webhook-id`, equal for duplicates."""

    specversion: str
    id: str
    source: str
    type: str
    subject: str = ""
    time: str
    datacontenttype: str
    dataschema: str = ""
    data: msgspec.Raw


class _Delivered(msgspec.Struct, frozen=True):
    """The fields of an event or a digest that become attributes."""

    schema: str = msgspec.field(name="$schema", default="")
    source_id: str = ""
    source_url: str = ""
    alert_type: str = ""
    emitted_at: str = ""
    destination_id: str = ""
    alert_id: str = ""
    window_end: str = ""


def enveloped(id: str, body: bytes) -> bytes:
    """Return the envelope around the body of a delivery, the same bytes each time."""
    told = msgspec.json.decode(body, type=_Delivered)
    of_digest = bool(told.destination_id)
    return msgspec.json.encode(
        Envelope(
            specversion="1.0",
            id=id,
            source=f"urn:uuid:{told.alert_id if of_digest else told.source_id}",
            type=DIGEST if of_digest else NOTICE if told.alert_type else EVENT,
            subject=told.source_url,
            time=told.window_end if of_digest else told.emitted_at,
            datacontenttype="application/json",
            dataschema=told.schema,
            data=msgspec.Raw(body),
        )
    )
