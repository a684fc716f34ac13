"""Refusals by actors, one class for each remedy that the caller has; the place and rule of a type's violation.

`api/problems.py` has the one table that turns these into RFC 9457 documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final, Literal, NamedTuple

import msgspec

from storage.records.secrecy import without_secrets


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the name that was probably meant, as a sentence after another: " Did you mean slack?"; "" for none."""
    close = get_close_matches(name, known, 1, 0.5)
    return f" Did you mean {close[0]}?" if close else ""


class DomainError(Exception):
    """A refusal. `detail`: for the caller, no secrets. may_pass: its URL can't be checked now (`AddSource.later`)."""

    may_pass = False

    def __init__(self, detail: str) -> None:
        self.detail = without_secrets(detail)
        super().__init__(self.detail)


class UrlRefused(DomainError):
    """The guard refuses a URL or an address (422 url-refused). `rule` names the rule; `detail` includes the remedy.
    inside: the detail for the operator only, when it has an address that the caller did not name: a key's holder could
    map an internal network by trying names.
    """

    def __init__(self, rule: str, detail: str, inside: str = "") -> None:
        super().__init__(detail)
        self.rule = rule
        self.inside = without_secrets(inside)

    @property
    def words(self) -> str:
        return f"{self.detail} (rule: {self.rule})"

    @property
    def words_inside(self) -> str:
        return f"{self.inside or self.detail} (rule: {self.rule})"


class Unprocessable(DomainError):
    """Well-formed but meaningless (422). `location` is a JSON path such as `body.language`."""

    def __init__(self, detail: str, location: str = "body", value: object = None) -> None:
        super().__init__(detail)
        self.location, self.value = location, value


class NotFound(DomainError):
    """The thing does not exist (404)."""


class Conflict(DomainError):
    """The thing is in the wrong state (409)."""


class Stale(DomainError):
    """The thing changed since the caller read it (412)."""

    def __init__(self) -> None:
        super().__init__("It has changed since you read it. Read it again and repeat your change.")


class TooSoon(DomainError):
    """Too early by the rules of politeness (429). `retry_after` is whole seconds."""

    def __init__(self, detail: str, retry_after: int) -> None:
        super().__init__(detail)
        self.retry_after = max(1, retry_after)


class Overloaded(DomainError):
    """The service is overloaded (503). `retry_after` is whole seconds."""

    def __init__(self, detail: str, retry_after: int = 5) -> None:
        super().__init__(detail)
        self.retry_after = max(1, retry_after)


class Busy(Overloaded):
    """Too many requests of this kind are in progress (503); nothing was started for this one."""


class LibraryFull(DomainError):
    """The number of sources is at its limit (409), until one is deleted or the setting is raised."""


class Violation(NamedTuple):
    """How a value breaks its type. inside: its path, as `.sources[0].url`; "" for the whole. field: one in it."""

    rule: Literal["unknown", "required", "choice", "pattern", "type"]
    inside: str
    says: str
    field: str = ""

    @property
    def path(self) -> str:
        return f"{self.inside}.{self.field}" if self.field else self.inside


_AT: Final = re.compile(r"(?P<says>.*?)(?: - at `\$(?P<path>[^`]*)`)?", re.DOTALL)
_FIELD: Final = re.compile(r"(unknown|required) field `([^`]*)`")


def violation_of(error: msgspec.ValidationError) -> Violation:
    """Return the violation that msgspec found first.

    >>> violation_of(msgspec.ValidationError("Object contains unknown field `b` - at `$.a[0]`")).path
    '.a[0].b'
    """
    match = _AT.fullmatch(str(error))
    assert match is not None  # the expression matches every text
    says, inside = match["says"], match["path"] or ""
    if field := _FIELD.search(says):
        return Violation("unknown" if field[1] == "unknown" else "required", inside, says, field[2])
    if says.startswith("Invalid enum value"):
        return Violation("choice", inside, says)
    return Violation("pattern" if says.startswith("Expected `str` matching") else "type", inside, says)
