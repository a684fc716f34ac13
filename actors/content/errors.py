"""The exceptions that leave this package."""

from __future__ import annotations


class ContentError(Exception):
    """The bytes are not what was asked for; `reason` is a sentence that a person can act on. Only this class, by its
    name, is a refusal to those outside of the jail.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NoParts(ContentError):
    """Selectors were asked of a document that has no elements to choose from."""
