"""Every real page through detection and reading.

All 2,151 take about 45 s of CPU, so they run only where CI=true; elsewhere a seeded sample of 300 is read.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from actors.content.detection import detect
from tests.data.material import files, in_ci, manifest, needs
from tests.support.pages import read_page

pytestmark = pytest.mark.data
SAMPLE = 300


def chosen() -> frozenset[str]:
    pairs = manifest("pages")
    names = sorted({name for pair in pairs for name in (*pair["history"], pair["before"], pair["after"])})
    return frozenset(names if in_ci() else random.Random(3).sample(names, SAMPLE))


def test_every_real_page_passes_detection_and_reading_without_an_error() -> None:
    needs("pages")
    names = chosen()
    types: Counter[str | None] = Counter()
    empty = []
    for name, body in files("pages"):
        if name not in names:
            continue
        types[detect(body, "text/html", "https://shore.example/").type] += 1
        reading = read_page(body, "text/html", "https://shore.example/", None, ())
        assert len(reading.blocks) == len(reading.keys) == len(reading.traits)
        if not reading.blocks and reading.trouble is None:
            empty.append(name)
    assert sum(types.values()) == len(names)
    assert empty == []
    assert types["html"] >= 0.95 * len(names), types
