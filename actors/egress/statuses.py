"""The meaning of an HTTP status for a check: the table of `failures.py`, status by status. Pure."""

from __future__ import annotations

from http import HTTPStatus

from actors.egress.failures import Blame, LookFailed

_PERMANENT = frozenset({401, 403, 404, 410, 451})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


def is_redirect(status: int) -> bool:
    """Return whether a status is a redirect, given a Location."""
    return status in _REDIRECTS


def failure(status: int, retry_after: float | None, fresh: float | None = None) -> LookFailed:
    """Return the failure for a final status other than 200 or a requested 304; times are in seconds."""
    blame, reason = _blame(status, retry_after), f"answered {_name(status)}"
    return LookFailed(blame, reason, status=status, retry_after=retry_after, fresh=fresh)


def _blame(status: int, retry_after: float | None) -> Blame:
    if status == 429 or (status == 503 and retry_after is not None):
        return Blame.THROTTLED
    if status in _PERMANENT:
        return Blame.REMOTE_PERMANENT
    if 200 <= status < 300:
        return Blame.CONTENT  # a response, but none with a body to read
    return Blame.REMOTE_TRANSIENT


def _name(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
