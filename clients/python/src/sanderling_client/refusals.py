"""The kinds of problems, a class each, by the end of their `type`.

Generated from the description of the API (`python -m clients.generate`); edits are lost.
"""

from __future__ import annotations

from sanderling_client.problems import ProblemError


class InvalidRequest(ProblemError):
    """The request is not valid (400)."""


class Unauthorized(ProblemError):
    """A valid API key is needed (401)."""


class Forbidden(ProblemError):
    """The key may not do this (403)."""


class NotFound(ProblemError):
    """Not found (404)."""


class RequestTimeout(ProblemError):
    """The request arrived too slowly (408)."""


class Conflict(ProblemError):
    """Not possible in its present state (409)."""


class LibraryFull(ProblemError):
    """The library is full (409)."""


class CursorExpired(ProblemError):
    """The cursor is older than the log (410)."""


class PreconditionFailed(ProblemError):
    """It has changed since you read it (412)."""


class BodyTooLarge(ProblemError):
    """The body is too large (413)."""


class TargetTooLong(ProblemError):
    """The request line is too long (414)."""


class UnsupportedMediaType(ProblemError):
    """The body is not plain JSON (415)."""


class Unprocessable(ProblemError):
    """Cannot be processed (422)."""


class UrlRefused(ProblemError):
    """The URL is refused (422)."""


class RateLimited(ProblemError):
    """Too many requests (429)."""


class HeadersTooLarge(ProblemError):
    """The headers are too large (431)."""


class Internal(ProblemError):
    """Internal error (500)."""


class Unavailable(ProblemError):
    """Temporarily unavailable (503)."""


REFUSALS: dict[str, type[ProblemError]] = {
    "invalid-request": InvalidRequest,
    "unauthorized": Unauthorized,
    "forbidden": Forbidden,
    "not-found": NotFound,
    "request-timeout": RequestTimeout,
    "conflict": Conflict,
    "library-full": LibraryFull,
    "cursor-expired": CursorExpired,
    "precondition-failed": PreconditionFailed,
    "body-too-large": BodyTooLarge,
    "target-too-long": TargetTooLong,
    "unsupported-media-type": UnsupportedMediaType,
    "unprocessable": Unprocessable,
    "url-refused": UrlRefused,
    "rate-limited": RateLimited,
    "headers-too-large": HeadersTooLarge,
    "internal": Internal,
    "unavailable": Unavailable,
}
