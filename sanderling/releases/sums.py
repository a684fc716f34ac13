"""SHA256SUMS: one line per file, in the format of `sha256sum`. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from storage.records.secrecy import plain

SUMS, SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~-]*")
"""A safe file name: no other folder, no terminal codes, nothing like a flag."""
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


def written(sums: Mapping[str, str]) -> str:
    """Return the text for files and their hexadecimal SHA-256, sorted by name."""
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))


def parsed(text: str) -> dict[str, str]:
    """Return each file's SHA-256. Raises ValueError for an invalid text, or a name outside the folder."""
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
