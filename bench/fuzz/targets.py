"""The table of targets: how input is drawn, and what must hold for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.fuzz import addresses, asking, documents, files, heads, telling
from bench.fuzz.chance import Chance

MOST_SECONDS = 3.0
"""CPU limit of one case. The slowest known cases take a tenth; a hang takes everything."""


@dataclass(frozen=True)
class Target:
    """draw: makes a case. holds: raises if its docstring does not hold. cases: number run with the tests."""

    draw: Callable[[Chance], Any]
    holds: Callable[[Any], None]
    cases: int


TARGETS: Mapping[str, Target] = {
    "url": Target(addresses.an_address, addresses.url, 1500),
    "robots": Target(addresses.a_robots, addresses.robots, 600),
    "feed": Target(documents.a_feed, documents.feed, 150),
    "html": Target(documents.two_looks, documents.html, 60),
    "office": Target(documents.a_file, documents.office, 120),
    "pdf": Target(documents.a_pdf, documents.office, 120),
    "delta": Target(documents.two_texts, documents.delta, 300),
    "outline": Target(documents.a_list, documents.outline, 300),
    "frame": Target(documents.a_frame, documents.frame, 600),
    "coding": Target(documents.a_coded, documents.coding, 300),
    "query": Target(asking.a_query, asking.query, 800),
    "cursor": Target(asking.a_cursor, asking.cursor, 1500),
    "filter": Target(asking.a_filter, asking.event_filter, 800),
    "sse": Target(asking.a_stream, asking.sse, 600),
    "body": Target(asking.a_body, asking.body, 800),
    "backup": Target(files.an_archive, files.backup, 200),
    "export": Target(files.an_export, files.export, 100),
    "moving": Target(files.a_file, files.moving, 200),
    "http1": Target(heads.a_request, heads.http1, 800),
    "message": Target(telling.an_event, telling.message, 60),
    "answer": Target(telling.an_answer, telling.answer, 1500),
    "template": Target(telling.a_template, telling.template, 200),
}


class TooLong(Exception):
    """A case took too much CPU for small input."""


def drawn(name: str, seed: int, number: int) -> Any:
    """Return a case, determined by the three arguments."""
    return TARGETS[name].draw(Chance(f"{name} {seed} {number}"))


def run(name: str, seed: int, number: int) -> None:
    """Draw a case and check it. Raises the finding."""
    case = drawn(name, seed, number)
    began = time.process_time()
    TARGETS[name].holds(case)
    if (took := time.process_time() - began) > MOST_SECONDS:
        raise TooLong(f"{took:.1f} s of CPU")
