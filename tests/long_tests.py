"""Reads long_tests.txt, the table of the tests of `make test-long`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
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


def has_long(path: str) -> bool:
    """Return whether a test file, or one of its tests, is in the table."""
    return long_key(path) is not None or any(key.startswith(f"{path}::") for key in LONG)


def long_key(nodeid: str) -> str | None:
    """Return the key of a long test, None for a test of `make test`."""
    parts = (nodeid, nodeid.partition("[")[0], *_around(nodeid.partition("::")[0]))
    return next((part for part in parts if part in LONG), None)


@cache
def _around(path: str) -> tuple[str, ...]:
    return (path, *map(str, Path(path).parents))
