"""Which reader reads what: the one table of them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sanderling.moving.lists import read_csv, read_urls
from sanderling.moving.outlines import read_opml
from sanderling.moving.plan import Kind, NotReadable, Plan

MOST_BYTES: Final = 64 * 1024 * 1024
READERS: Final[Mapping[Kind, Callable[[bytes], Plan]]] = {
    "urls": read_urls,
    "csv": read_csv,
    "opml": read_opml,
}


def read(kind: Kind, data: bytes) -> Plan:
    """Return the plan of a file. Raises NotReadable, also for one in which there is nothing."""
    if len(data) > MOST_BYTES:
        raise NotReadable(f"It is larger than {MOST_BYTES >> 20} MiB.")
    if kind not in READERS:
        raise NotReadable(f"It is of {kind}, which is not read yet.")
    plan = READERS[kind](data)
    if not (plan.sources or plan.findings):
        raise NotReadable("There is nothing in it.")
    return plan
