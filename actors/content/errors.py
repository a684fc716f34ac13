"""The exceptions that leave this package."""

from __future__ import annotations


class ContentError(Exception):
    """The bytes are not what was asked for; `reason` is a sentence that a person can act on. chose_nothing: a selector
    matches nothing of them. Only this class, by its name, is a refusal to those outside of the jail.
    """

    def __init__(self, reason: str, *, chose_nothing: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.chose_nothing = reason, chose_nothing


class NoParts(ContentError):
    """Selectors were asked of a document that has no elements to choose from."""
