"""References to secrets, and their values, which are never written, shown or stored: variables and files have them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
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


LARGEST = 32_768
"""Maximum bytes of a secret in a file."""


def looked_up(reference: Reference, folder: Path, variables: Mapping[str, str]) -> Secret:
    """Return the secret of a reference. Raises ValueError for an unreadable file."""
    if reference.env is not None:
        value = variables.get(reference.env, "").strip()
        return Secret(value or None, str(reference))
    path = folder / (reference.file or "")
    try:
        if not path.exists():
            return Secret(None, str(reference))
        with path.open("rb") as opened:
            data = opened.read(LARGEST + 1)
        text = data.decode("utf-8").strip()
    except OSError as error:
        raise ValueError(f"{reference} can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{reference} is not text in UTF-8") from None
    if len(data) > LARGEST:
        raise ValueError(f"{reference} is larger than {LARGEST >> 10} KiB")
    return Secret(text or None, str(reference))
