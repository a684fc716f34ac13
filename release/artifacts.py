"""Which files of dist/ are released, and under which names. Pure.

What runs on one kind of machine only has that in its name, so that the files of several machines lie in one folder.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Built(NamedTuple):
    """What was built: the version, and the kind of machine, as `linux-x86_64`."""

    version: str
    platform: str


KINDS = {
    "the single file": r"sanderling-{version}-linux-[a-z0-9_]+",
    "the universal file": r"sanderling-{version}-linux-[a-z0-9_]+-universal",
    "a .deb": r"sanderling_{version}-1_[a-z0-9]+\.deb",
    "an .rpm": r"sanderling-{version}-1\.[a-z0-9_]+\.rpm",
    "the wheel": r"sanderling-{version}-py3-none-any\.whl",
    "the sdist": r"sanderling-{version}\.tar\.gz",
    "the Python client's wheel": r"sanderling_client-[0-9.]+-py3-none-any\.whl",
    "the Python client's sdist": r"sanderling_client-[0-9.]+\.tar\.gz",
    "the bill of materials": r"sanderling-{version}-linux-[a-z0-9_]+\.cdx\.json",
}
"""What a release has, and its name as a pattern."""


def released(name: str, built: Built) -> str | None:
    """Return under which name a file of dist/ is released; None: it is not.

    >>> released("sanderling", Built("0.1.0", "linux-x86_64"))
    'sanderling-0.1.0-linux-x86_64'
    """
    stem = f"sanderling-{built.version}-{built.platform}"
    renamed = {
        "sanderling": stem,
        "sanderling-universal": f"{stem}-universal",
        "sanderling.cdx.json": f"{stem}.cdx.json",
    }.get(name, name)
    return renamed if kind_of(renamed, built.version) else None


def kind_of(name: str, version: str) -> str | None:
    """Return what a released file is; None for a name that no release has."""
    for kind, pattern in KINDS.items():
        if re.fullmatch(pattern.format(version=re.escape(version)), name):
            return kind
    return None


def lacking(names: list[str], version: str) -> list[str]:
    """Return what is not among these files, in the order of KINDS."""
    there = {kind_of(name, version) for name in names}
    return [kind for kind in KINDS if kind not in there]
