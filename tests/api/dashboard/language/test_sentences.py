"""Sentences of other rooms: known again, and still written there as they are known here."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise

import pytest

from api.dashboard.language.patterns import PATTERNS
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import speaking
from tests.rules.source_files import ROOT

IN_SWEDISH = (
    ("The last look failed: answered 503", "Den senaste läsningen misslyckades: svarade 503"),
    ("Answered 503.", "Svarade 503."),
    (
        "3 looks in a row have failed, for 2 h: "
        "site.test does not resolve: there is no such name, or it has no address.",
        "3 läsningar i rad har misslyckats, i 2 tim: site.test går inte att slå upp: "
        "det finns inget sådant namn, eller så har det ingen adress.",
    ),
    (
        "an HTML document, which advertises 2 feeds; served as text/html",
        "ett HTML-dokument, som annonserar 2 flöden; skickat som text/html",
    ),
    (
        "What weighed most: “Adult: 21. Bicycles fr…” came (0.60), “Adult, day: 18” went (0.36). The page changed.",
        "Det som vägde mest: ”Adult: 21. Bicycles fr…” kom (0.60), ”Adult, day: 18” försvann (0.36). Sidan ändrades.",
    ),
    ("The next look is due on 6 May 2027 04:02 UTC.", "Nästa läsning är planerad till 6 maj 2027 04:02 UTC."),
    ("It has not been looked at yet. It rests until then.", "Den har inte lästs ännu. Den vilar till dess."),
)


@pytest.mark.parametrize(("english", "swedish"), IN_SWEDISH)
def test_a_sentence_is_known_again_with_what_it_names(english: str, swedish: str) -> None:
    with speaking("sv"):
        assert translated(english) == swedish
    assert translated(english) == english


@pytest.mark.parametrize(
    "text", ["", "Nobody wrote this pattern.", "answered", "It rests until then. Nobody knows this."]
)
def test_a_sentence_that_nobody_knows_stays_as_it_is(text: str) -> None:
    with speaking("sv"):
        assert translated(text) == text


def test_a_name_in_a_sentence_is_not_translated() -> None:
    with speaking("sv"):
        assert translated("no source is called “Sources”") == "ingen källa heter ”Sources”"


@pytest.mark.parametrize("text", ["It has. " * 75, "a: b (c) " * 60, "x; " * 190, "“a” came (1), " * 40, "y" * 10**6])
def test_a_text_that_is_made_to_be_long_to_compare_stays_as_it_is(text: str) -> None:
    """Each takes some milliseconds; without the bound on length they would take minutes."""
    with speaking("sv"):
        assert translated(text) == text


MOST = 0.5
"""The share of the pairs of words of a pattern that a room must still write: where it puts words together, no file has
the pair.
"""


def test_each_pattern_is_still_written_in_its_room() -> None:
    """A pattern that no room writes any more translates nothing, and nobody would notice."""
    written = _pairs(_written())
    gone = [pattern for pattern in PATTERNS if _share(_pairs(pattern), written) < MOST]
    assert not gone, f"no room writes these any more: mend them in language/patterns.py: {gone}"


def _share(pairs: Collection[tuple[str, str]], written: Collection[tuple[str, str]]) -> float:
    return sum(pair in written for pair in pairs) / len(pairs) if len(pairs) > 1 else 1.0


def _pairs(text: str) -> set[tuple[str, str]]:
    words = re.findall(r"[\w'’]+", re.sub(r"%\(\w+\)s|{[^{}\n\"']*}", " 0 ", text))
    return {pair for pair in pairwise(words) if "0" not in pair}


def _written() -> str:
    files = [file for room in ("actors", "api", "storage") for file in sorted((ROOT / room).rglob("*.py"))]
    text = "\n".join(file.read_text("utf-8") for file in files if file.name != "patterns.py")
    return re.sub(r'"\s*\n\s*f?"', "", text)
