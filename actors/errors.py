"""Refusals that an actor may answer instead of a result: one class for each thing that the asker can do about it.

`api/problems.py` has the one table that turns these into RFC 9457 documents.
"""

from __future__ import annotations

from storage.records.secrecy import without_secrets


class DomainError(Exception):
    """Anything below. `detail` is a sentence for the person who asked, without what is secret in the URLs it names.

    may_pass: what is refused is a URL that could not be looked at now; `AddSource.later` keeps it nevertheless.
    """

    may_pass = False

    def __init__(self, detail: str) -> None:
        self.detail = without_secrets(detail)
        super().__init__(self.detail)


class UrlRefused(DomainError):
    """The guard refuses a URL or an address (422 url-refused): `rule` names the rule, `detail` also the way out.

    inside: the detail for the operator alone (log, dashboard, own terminal), where it has an address that the asker
    did not name: who holds a key must not read the names of an inner network by trying them.
    """

    def __init__(self, rule: str, detail: str, inside: str = "") -> None:
        super().__init__(detail)
        self.rule = rule
        self.inside = without_secrets(inside)

    @property
    def words(self) -> str:
        """The detail with the rule's name."""
        return f"{self.detail} (rule: {self.rule})"

    @property
    def words_inside(self) -> str:
        """The same for the operator."""
        return f"{self.inside or self.detail} (rule: {self.rule})"


class Unprocessable(DomainError):
    """Well-formed but meaningless (422): `location` is a JSON path such as `body.language`."""

    def __init__(self, detail: str, location: str = "body", value: object = None) -> None:
        super().__init__(detail)
        self.location = location
        self.value = value


class NotFound(DomainError):
    """There is no such thing (404)."""


class Conflict(DomainError):
    """The thing is not in a state for this (409)."""


class Stale(DomainError):
    """Somebody else has changed the thing since the asker read it (412)."""

    def __init__(self) -> None:
        super().__init__("It has been changed since you read it: read it again, and change what it is now.")


class TooSoon(DomainError):
    """Politeness forbids it now (429); `retry_after` is whole seconds."""

    def __init__(self, detail: str, retry_after: int) -> None:
        super().__init__(detail)
        self.retry_after = max(1, retry_after)


class Overloaded(DomainError):
    """The service can't take it now (503); `retry_after` is whole seconds."""

    def __init__(self, detail: str, retry_after: int = 5) -> None:
        super().__init__(detail)
        self.retry_after = max(1, retry_after)


class Busy(Overloaded):
    """As many questions of this kind are being answered as may be (503): nothing was begun for this one."""


class LibraryFull(DomainError):
    """As many sources are watched as may be (409): until one is deleted, or the setting is raised."""
