"""Actions on parts of the tree, and the states that allow them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

ACTS: Final[Mapping[str, tuple[str, str]]] = {
    "check": ("Look at it now", "a look is on its way"),
    "restart": ("Restart it", "it was restarted"),
    "release": ("Let it try again at once", "released"),
    "disable": ("Pause it", "paused"),
    "enable": ("Resume it", "resumed"),
}
"""The question, and the message afterwards."""
OF_A_PART: Final = "Restart it, and all that was started after it"
_NOWHERE: Final = ("paused", "ended", "gone")


def is_source(row: Mapping[str, Any]) -> bool:
    return str(row["path"]).startswith("sources/")


def possible(row: Mapping[str, Any] | None) -> Collection[str]:
    """Return the actions that a row allows now.

    >>> possible({"path": "sources/1", "state": "paused"}), sorted(possible({"path": "log", "state": "backoff"}))
    (['enable'], ['release', 'restart'])
    """
    if row is None or row["state"] == "gone":
        return []
    found = ["restart"] if row["state"] not in _NOWHERE else []
    if row["state"] in ("quarantined", "backoff"):
        found.append("release")
    if is_source(row):
        found += ["enable"] if row["state"] == "paused" else ["check", "disable"]
    return found
