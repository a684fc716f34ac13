"""Why something could not be done, in words, for reports of many things at once."""

from __future__ import annotations

from actors.errors import DomainError, UrlRefused
from supervision import Stopping, Unanswered


def words_of(error: Exception) -> str:
    """Return a sentence that says what an actor, its mailbox or the storage answered instead of a result."""
    match error:
        case UrlRefused():
            return error.words
        case DomainError():
            return error.detail
        case Unanswered() | Stopping():
            return "the service is busy or stopping, and it is not known whether it was done: call again"
    return "the storage takes nothing now: call again"
