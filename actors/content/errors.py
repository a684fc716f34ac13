"""The exceptions that leave this package."""

from __future__ import annotations


class ContentError(Exception):
    """The body is not the expected kind; `reason` is a sentence for the user. The jail knows it by its name."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NoParts(ContentError):
    """Selectors were given for a document without elements."""
