"""A service's refusals as sentences for a person: the reason, and the command to type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx

from api.refusal_words import field_of, in_words, plainly, sentence
from sanderling.environment import typed
from sanderling.exits import CommandFailed, Exit
from storage.records.secrecy import plain

AGAIN: Final = (429, 502, 503, 504)
"""Temporary statuses."""
NO_KEY: Final = (
    "That service asks for an API key: put one into the variable SANDERLING_KEY, or name its file with --key-file."
)


class ServiceRefused(CommandFailed):
    """The service answered with this error status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message, Exit.TRY_AGAIN if status in AGAIN else Exit.FAILED)
        self.status = status


def refused(answer: httpx.Response, called: str) -> ServiceRefused:
    """called: the service's name in errors."""
    status = answer.status_code
    try:
        problem = answer.json()
        slug = str(problem.get("type") or "").rpartition("/")[2]
        words = _faults(problem) or in_words(str(problem.get("detail") or problem.get("title") or ""))
    except (ValueError, AttributeError, TypeError):
        reason = f"{status} {answer.reason_phrase}".strip()
        return ServiceRefused(f"{called} answers {reason}, and not as Sanderling does: is the address right?", status)
    advice = SAYS.get(slug, _nothing)(words, answer)
    return ServiceRefused(" ".join(part for part in (plain(words), advice) if part), status)


def _faults(problem: Mapping[str, Any]) -> str:
    """Return the messages for invalid fields, each once; "" if the problem is about no field."""
    said = []
    for fault in problem.get("errors") or ():
        message = in_words(plainly(str(fault["message"])))
        field = field_of(str(fault["location"]))
        whole = field in ("", "url") or message == in_words(str(problem.get("detail")))
        said.append(message if whole else f"{sentence(field)[:-1]}: {message[:1].lower()}{message[1:]}")
    return " ".join(dict.fromkeys(said))


def _nothing(_words: str, _answer: httpx.Response) -> str:
    return ""


def _fixed(text: str, *commands: str) -> Callable[[str, httpx.Response], str]:
    return lambda _words, _answer: text.format(*(f"`{typed(command)}`" for command in commands))


def _later(_words: str, answer: httpx.Response) -> str:
    seconds = answer.headers.get("Retry-After", "")
    return f"Try again in {seconds} s." if seconds.isdecimal() and "again in" not in _words else ""


def _logged(_words: str, answer: httpx.Response) -> str:
    id = answer.headers.get("X-Request-Id", "")
    return f"The log of the service says more, at request_id {plain(id)}." if id else ""


def _elsewhere(words: str, _answer: httpx.Response) -> str:
    return "Is the address that of the service itself?" if words == "There is nothing at this path." else ""


SAYS: Final[Mapping[str, Callable[[str, httpx.Response], str]]] = {
    "unauthorized": _fixed("Make a key where the service runs: {0}.", "keys create --name me --scope ..."),
    "forbidden": _fixed("{0} shows the scopes of each key.", "keys list"),
    "not-found": _elsewhere,
    "cursor-expired": _fixed("Leave out --since to begin now, or give --since earliest."),
    "library-full": _fixed("Delete a source, or raise the setting max_sources."),
    "rate-limited": _later,
    "unavailable": _later,
    "internal": _logged,
    "body-too-large": _fixed("The setting request_limit raises it."),
}
"""Advice by problem type, appended to the service's message."""
