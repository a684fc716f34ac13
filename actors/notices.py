"""What the service itself has to say, as events like any other: in the log, on the `alerts` channel, delivered."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal, get_args
from unicodedata import normalize

from storage.records.event import Draft, SourceType
from storage.records.identity import Millis

AlertType = Literal[
    "source_quiet",
    "source_recovered",
    "source_failing",
    "source_reset",
    "destination_failing",
    "destination_disabled",
    "watching_stalled",
]
ALERT_TYPES: tuple[AlertType, ...] = get_args(AlertType)


def draft(
    alert_type: AlertType,
    source_url: str,
    title: str,
    content: str,
    at: Millis,
    *,
    source_type: SourceType = "html",
) -> Draft:
    """Return a notice about a source, or about the service itself (then `source_url` is its own address)."""
    text = normalize("NFC", content)
    return Draft(
        source_type=source_type,
        source_url=source_url,
        url=source_url,
        title=title,
        author="",
        content=text,
        content_truncated=False,
        content_hash="sha256:" + sha256(text.encode("utf-8", "replace")).hexdigest(),
        simhash=0,
        tags=("kind:notice",),
        published_at=None,
        fetched_at=at,
        alert_type=alert_type,
    )
