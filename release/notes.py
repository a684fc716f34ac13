"""The notes of a release: what CHANGELOG.md says of its version. Pure."""

from __future__ import annotations

import re


def notes(changelog: str, version: str) -> str:
    """Return the section of a version under a heading of its own. Raises ValueError where there is none, or two."""
    found = re.findall(rf"^## {re.escape(version)}(?:, [^\n]*)?\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if len(found) != 1 or not found[0].strip():
        raise ValueError(f"CHANGELOG.md has {len(found)} sections of {version}, and one with words in it is needed")
    return f"# Sanderling {version}\n\n{found[0].strip()}\n"


def is_dated(changelog: str, version: str) -> bool:
    """Return whether the section of a version says when it was released, and not "unreleased"."""
    return re.search(rf"^## {re.escape(version)}, \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE) is not None
