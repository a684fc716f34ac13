"""Read secrets from environment variables and files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from extras.apply.references import Reference, Secret

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
