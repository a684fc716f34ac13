"""Homebrew's formula and the Nix flake: templates, filled with a release's version, files and sums. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

RECIPES = {
    "sanderling.rb": {"X86_64": "linux-x86_64", "AARCH64": "linux-aarch64"},
    "flake.nix": {"UNIVERSAL": "linux-x86_64-universal"},
}
"""By name, the files that a recipe fetches: as its template calls each, and the end of its name."""
TEMPLATES = {"sanderling.rb": "formula.rb.in", "flake.nix": "flake.nix.in"}
_PLACE = re.compile(r"@([A-Z0-9_]+)@")
_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(:\d+)?(/[A-Za-z0-9._~%+-]+)*")


def address(text: str) -> str:
    """Return where the files of a release are published, without a slash at the end. Raises ValueError."""
    found = text.rstrip("/")
    if _ADDRESS.fullmatch(found) is None:
        raise ValueError(f"{text!r} is no https address of a folder")
    return found


def lacking(name: str, version: str, sums: Mapping[str, str]) -> list[str]:
    """Return the files that a recipe fetches and that are not in a release."""
    return [file for file in _files(name, version).values() if file not in sums]


def filled(name: str, template: str, about: Mapping[str, str], sums: Mapping[str, str]) -> str:
    """Return a recipe. about: VERSION, URL and DESCRIPTION. Raises KeyError for a file that is not there."""
    files = _files(name, about["VERSION"])
    words = {**about, **files, **{f"{word}_SHA256": sums[file] for word, file in files.items()}}
    return _PLACE.sub(lambda place: _quoted(words[place[1]]), template)


def _files(name: str, version: str) -> dict[str, str]:
    return {word: f"sanderling-{version}-{end}" for word, end in RECIPES[name].items()}


def _quoted(text: str) -> str:
    r"""Return text as it may stand between double quotes in Ruby and in Nix, where it means itself.

    >>> _quoted('say "#{x}" or "${y}"')
    'say \\"\\#{x}\\" or \\"\\${y}\\"'
    """
    return re.sub(r'(["\\#$])', r"\\\1", text)
