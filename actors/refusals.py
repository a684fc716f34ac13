"""Error sentences for bulk reports."""

from __future__ import annotations

from actors.errors import DomainError, UrlRefused
from supervision import Stopping, Unanswered


def words_of(error: Exception) -> str:
    """Return a sentence for an error of an actor, its mailbox or storage."""
    match error:
        case UrlRefused():
            return error.words
        case DomainError():
            return error.detail
        case Unanswered() | Stopping():
            return "the service is busy or stopping, and it is not known whether it was done: call again"
    return "the storage takes nothing now: call again"
