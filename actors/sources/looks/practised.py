"""A practice document as a network response, with conditional requests. Makes no connection."""

from __future__ import annotations

from actors.egress.http import FetchedResponse
from actors.practice.documents import DOCUMENTS, named
from storage.records.source import Validators


def practised(url: str, step: int, validators: Validators) -> FetchedResponse:
    """Return the document at a practice source's URL after `step` changes; a 304 without a body if it is known."""
    document, etag = DOCUMENTS[named(url)], f'"practice-{step}"'
    body, status = (b"", 304) if validators.etag == etag else (document.at(step), 200)
    return FetchedResponse(
        url=url,
        status=status,
        headers={"etag": etag, "content-type": document.media},
        body=body,
        content_type=document.media,
        etag=etag,
        last_modified=None,
        retry_after=None,
        max_age=None,
        elapsed_ms=0,
        wire_bytes=len(body),
    )
