"""Reads long_tests.txt, the table of the tests of `make test-long`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def long_tests(text: str) -> Mapping[str, str]:
    """Return {folder, file, test or case: reason} in the order of the table."""
    found, reason = {}, ""
    for line in text.splitlines():
        if line.startswith(" "):
            found[line.strip()] = reason
        elif line and not line.startswith("#"):
            reason = line
    return found


LONG = long_tests(Path(__file__).with_suffix(".txt").read_text("utf-8"))
