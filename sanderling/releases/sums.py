"""SHA256SUMS: a line for each file of a release, as `sha256sum` writes and reads them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from storage.records.plain import plain

SUMS, SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~-]*")
"""A file's name: nothing in it leads into another folder, acts on a terminal, or reads like a flag."""
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


def written(sums: Mapping[str, str]) -> str:
    """Return the text for files and their SHA-256 in hexadecimal, in the order of names."""
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))


def parsed(text: str) -> dict[str, str]:
    """Return each file's SHA-256. Raises ValueError for what is no such text, or names a file outside the folder."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        read = _LINE.fullmatch(line)
        if read is None:
            raise ValueError(f"line {number} is not a SHA-256 and a name")
        digest, name = read.groups()
        if NAME.fullmatch(name) is None or name in (SUMS, SIGNATURE):
            raise ValueError(f"line {number} names {plain(name)!r}, which is no plain name of a file in this folder")
        if name in found:
            raise ValueError(f"line {number} names {name} again")
        found[name] = digest
    return found
