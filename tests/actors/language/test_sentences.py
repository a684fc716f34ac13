"""The dashboard recognizes sentences of other rooms, and those rooms still write them."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise

import pytest
from msgspec.structs import replace

from actors.language.sentences import patterns, translated, translated_lines
from actors.language.speaking import speaking
from actors.notices import destination_notice
from actors.signatures import summarise
from sanderling_client.receiver.receipt import WHYS
from storage.records.coverage import Coverage, Gap, UnknownPeriod, Why
from storage.records.destination import Attempt, Destination, Notice
from storage.records.identity import Millis
from storage.records.message import Message, joined, message
from tests.rules.source_files import ROOT

_WEIGHED = (
    message("“%(text)s” added (%(score)s)", text="Adult: 21. Bicycles fr…", score="0.60"),
    message("“%(text)s” removed (%(score)s)", text="Adult, day: 18", score="0.36"),
)
IN_SWEDISH: tuple[tuple[str | Message, str], ...] = (
    ("The last check failed: answered 503", "Den senaste kontrollen misslyckades: svarade 503"),
    ("Answered 503.", "Svarade 503."),
    (
        "3 checks in a row have failed, for 2 h: "
        "site.test does not resolve: there is no such name, or it has no address.",
        "3 kontroller i rad har misslyckats, i 2 tim: site.test går inte att slå upp: "
        "det finns inget sådant namn, eller så har det ingen adress.",
    ),
    (
        "an HTML document, which advertises 2 feeds; served as text/html",
        "ett HTML-dokument, som annonserar 2 flöden; skickat som text/html",
    ),
    (
        joined([message("Most of the score: %(rest)s.", rest=joined(_WEIGHED, ", ")), message("The page changed.")]),
        "Det som vägde mest: ”Adult: 21. Bicycles fr…” kom (0.60), ”Adult, day: 18” försvann (0.36). Sidan ändrades.",
    ),
    ("It has not been checked yet. It pauses until then.", "Den har inte lästs ännu. Den pausar till dess."),
)


@pytest.mark.parametrize(("english", "swedish"), IN_SWEDISH)
def test_a_sentence_is_recognised_with_its_values(english: str | Message, swedish: str) -> None:
    with speaking("sv"):
        assert translated(english) == swedish
    assert translated(english) == str(english)


_HOUR = 3_600_000


def _receipt(*whys: Why, looks: tuple[int, ...] = (1_190, 2, 12, 3, 0, 0, 0, 0)) -> Message:
    """Return the sentence of a week's receipt, with an unknown hour for each reason."""
    unknown = [UnknownPeriod(Millis(n * _HOUR), Millis((n + 1) * _HOUR), why) for n, why in enumerate(whys)]
    week = Millis(168 * _HOUR)
    return summarise(Coverage(Millis(0), week, looks, 1, None, None, Gap(Millis(0), Millis(5_460_000)), unknown, 0))


def test_a_receipt_with_any_unknown_is_translated() -> None:
    with speaking("sv"):
        assert translated(_receipt()) == (
            "1\u00a0204 kontroller lyckades, 3 misslyckades, det längsta uppehållet var 1 tim 31 min; inget är okänt."
        )
        assert translated(_receipt("crash", "restore", looks=(1, 0, 0, 0, 0, 0, 0, 0))) == (
            "1 kontroll lyckades, det längsta uppehållet var 1 tim 31 min; 2 tider är okända, "
            "sammanlagt 2 tim (tjänsten avbröts utan förvarning; en säkerhetskopia lades tillbaka)."
        )
        for why in WHYS:
            text = _receipt(why)
            assert not _english(str(text), translated(text)), text


def test_a_sentence_that_begins_with_a_figure_is_one_of_its_own() -> None:
    with speaking("sv"):
        since = "No check has succeeded since 26 Oct 2026 13:34 UTC, for 60 min."
        says = f"{since} 6 checks in a row have failed, for 32 min: x"
        assert translated(says) == (
            "Ingen kontroll har lyckats sedan 26 okt 2026 13:34 UTC, i 60 min. "
            "6 kontroller i rad har misslyckats, i 32 min: x"
        )
        assert translated("9 blocks came and 3 went: it alternates with the earlier text; reported if it lasts.") == (
            "9 stycken kom och 3 försvann: det växlar med det som stod där tidigare, tills det består."
        )


def _english(text: str, words: str) -> set[str]:
    """Return the longer English words that a translation still has."""
    return {word for word in re.findall(r"[A-Za-z]{4,}", text) if re.search(rf"\b{word}\b", words)} - {"HTTP"}


@pytest.mark.parametrize(("owes", "status"), [("destination_failing", 500), ("destination_disabled", 410)])
def test_the_notice_of_a_destination_is_translated(owes: Notice, status: int) -> None:
    hook = Destination("d", "a", "webhook", "https://10.0.0.9/", "instant", "x.test", (), Millis(0), Millis(0))
    last = Attempt("d", "e", 1, "retry", Millis(0), status, 12, None, None)
    told = destination_notice(replace(hook, owes=owes, failing_since=Millis(0)), last, "https://me.test", Millis(0))
    with speaking("sv"):
        assert not _english(told.title, translated(told.title)) - {"destination", "test"}
        assert not _english(told.content, translated_lines(told.content))


def test_each_line_of_ours_is_translated() -> None:
    with speaking("sv"):
        assert translated_lines("The first of them:\nTides (https://a.test/)") == (
            "De första av dem:\nTides (https://a.test/)"
        )


@pytest.mark.parametrize(
    "text", ["", "Nobody wrote this pattern.", "answered", "It pauses until then. Nobody knows this."]
)
def test_an_unknown_sentence_stays_unchanged(text: str) -> None:
    with speaking("sv"):
        assert translated(text) == text


def test_a_name_in_a_sentence_is_not_translated() -> None:
    with speaking("sv"):
        assert translated("no source is called “Sources”") == "ingen källa heter ”Sources”"


@pytest.mark.parametrize("text", ["It has. " * 75, "a: b (c) " * 60, "x; " * 190, "“a” came (1), " * 40, "y" * 10**6])
def test_a_text_that_is_made_to_be_long_to_compare_stays_as_it_is(text: str) -> None:
    """Each takes milliseconds; without the limit on length it would take minutes."""
    with speaking("sv"):
        assert translated(text) == text


MOST = 0.5
"""Share of a pattern's word pairs that its room must write; code that joins words at run time hides some pairs."""


def test_each_pattern_is_still_written_in_its_room() -> None:
    """An outdated pattern translates nothing, and no other test would notice."""
    written = _pairs(_written())
    gone = [pattern for pattern in patterns() if _share(_pairs(pattern), written) < MOST]
    assert not gone, f"no room writes these any more: mend them in language/patterns.txt: {gone}"


def _share(pairs: Collection[tuple[str, str]], written: Collection[tuple[str, str]]) -> float:
    return sum(pair in written for pair in pairs) / len(pairs) if len(pairs) > 1 else 1.0


def _pairs(text: str) -> set[tuple[str, str]]:
    words = re.findall(r"[\w'’]+", re.sub(r"%\(\w+\)s|{[^{}\n\"']*}", " 0 ", text))
    return {pair for pair in pairwise(words) if "0" not in pair}


def _written() -> str:
    rooms = [ROOT / room for room in ("actors", "api", "extras", "storage", "sanderling_client")]
    files = [file for room in rooms for end in ("*.py", "*.toml") for file in sorted(room.rglob(end))]
    text = "\n".join(file.read_text("utf-8") for file in files)
    return re.sub(r'"\s*\n\s*f?"', "", text)
