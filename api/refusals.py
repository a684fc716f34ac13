"""The refusal for each exception, from one table: an actor's, storage's or the framework's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import trio
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from actors import errors
from actors.notices import RESTORE
from api.problems import KINDS, FieldError, Refusal, shown
from storage.errors import Corrupt, DiskFull, Fenced, Unavailable
from supervision import Stopping, Unanswered


def _later(slug: str, detail: str, seconds: int) -> Refusal:
    return Refusal(slug, detail, headers={"Retry-After": str(seconds)})


def _of_http(error: HTTPException) -> Refusal:
    slugs = {kind.status: slug for slug, kind in reversed(KINDS.items())}
    slug = slugs.get(error.code or 500, "invalid-request" if (error.code or 500) < 500 else "internal")
    headers = {}
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(sorted(error.valid_methods or ()))
    if slug in ("request-timeout", "body-too-large"):
        headers["Connection"] = "close"  # the rest of the body stays unread
    return Refusal(slug, KINDS[slug].says if slug != "not-found" else "There is nothing at this path.", headers=headers)


_BUSY = "The service is busy; nothing is known about whether it was done."
TABLE: tuple[tuple[type[BaseException], Callable[[Any], Refusal]], ...] = (
    (Refusal, lambda e: e),
    (errors.UrlRefused, lambda e: Refusal("url-refused", e.words)),
    (
        errors.Unprocessable,
        lambda e: Refusal("unprocessable", e.detail, [FieldError(e.location, e.detail, shown(e.value))]),
    ),
    (errors.NotFound, lambda e: Refusal("not-found", e.detail)),
    (errors.LibraryFull, lambda e: Refusal("library-full", e.detail)),
    (errors.Conflict, lambda e: Refusal("conflict", e.detail)),
    (errors.Stale, lambda e: Refusal("precondition-failed", e.detail)),
    (errors.TooSoon, lambda e: _later("rate-limited", e.detail, e.retry_after)),
    (errors.Overloaded, lambda e: _later("unavailable", e.detail, e.retry_after)),
    (Unanswered, lambda e: _later("unavailable", _BUSY, 5)),
    (Stopping, lambda e: _later("unavailable", "The service is stopping.", 5)),
    (trio.TooSlowError, lambda e: _later("unavailable", _BUSY, 5)),
    (DiskFull, lambda e: _later("unavailable", "There is no room to write; nothing was written.", 60)),
    (Unavailable, lambda e: _later("unavailable", "The storage does not answer now.", 5)),
    (Corrupt, lambda e: Refusal("internal", f"The database is damaged. {RESTORE}")),
    (Fenced, lambda e: _later("unavailable", "Another life of the service has taken over.", 5)),
    (HTTPException, _of_http),
)


def refusal_of(error: BaseException, *, owner: bool = False) -> Refusal | None:
    """Return the Refusal for an exception, or None for our own bug.

    owner: the reader is the service's owner, and may see the address that a name resolves to.
    """
    if owner and isinstance(error, errors.UrlRefused):
        return Refusal("url-refused", error.words_inside)
    for kind, make in TABLE:
        if isinstance(error, kind):
            return make(error)
    return None
