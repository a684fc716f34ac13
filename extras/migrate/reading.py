"""The table of readers. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from extras.migrate.changedetection import read_changedetection
from extras.migrate.detection import MOST_TEXT
from extras.migrate.drafting import Kind, NotReadable, Plan
from extras.migrate.lists import read_csv, read_opml, read_urls
from extras.migrate.urlwatch import read_urlwatch

MOST_BYTES: Final = 256 * 1024 * 1024
"""Maximum bytes of a zip: a changedetection.io backup also has old page states. Unpacked JSON has its own limit."""
READERS: Final[Mapping[Kind, Callable[[bytes], Plan]]] = {
    "urls": read_urls,
    "csv": read_csv,
    "opml": read_opml,
    "changedetection": read_changedetection,
    "urlwatch": read_urlwatch,
}


def read(kind: Kind, data: bytes) -> Plan:
    """Return the plan of a file. Raises NotReadable, also for an empty one."""
    most = MOST_BYTES if data.startswith(b"PK") else MOST_TEXT
    if len(data) > most:
        raise NotReadable(f"It is larger than {most >> 20} MiB.")
    plan = READERS[kind](data)
    if not (plan.sources or plan.findings):
        raise NotReadable("It is empty.")
    return plan
