"""References to secrets, and their values, which are never written, shown or stored. Pure."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from msgspec import Meta, Struct


class Reference(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a secret is: in a variable of the environment, or in a file beside these."""

    env: Annotated[str, Meta(min_length=1, max_length=200, description="The name of a variable")] | None = None
    file: Annotated[str, Meta(min_length=1, max_length=1000, description="A path, from this folder")] | None = None

    def __str__(self) -> str:
        return f"${self.env}" if self.env is not None else f"the file {self.file}"


class Secret(NamedTuple):
    """A secret. value: None if unavailable here; says: its place, for messages."""

    value: str | None
    says: str

    def __repr__(self) -> str:
        return f"Secret({self.says!r})"


def flaw_of(reference: Reference) -> str:
    """Return a reference's fault; "" if valid."""
    if (reference.env is None) == (reference.file is None):
        return 'name one place: { env = "NAME" } or { file = "path" }'
    return ""
