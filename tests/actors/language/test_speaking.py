"""Placeholders, plurals, numbers and months in each language."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from actors.language import catalogues
from actors.language.catalogues import CONTEXT, Catalogue
from actors.language.speaking import decimal, language, number, say, say_as, say_many, set_language, speaking
from api.dashboard.drawing import dated, distance

TEXTS = {
    "Paused.": ("Stannad.",),
    "Key %(name)s": ("Nyckeln %(name)s",),
    "%(count)s key": ("%(count)s nyckel", "%(count)s nycklar"),
    f"figures{CONTEXT},": ("\xa0",),
    f"figures{CONTEXT}.": (",",),
    f"month{CONTEXT}May": ("maj",),
    "%(span)s ago": ("för %(span)s sedan",),
    "%(count)s h": ("%(count)s tim",),
}


@pytest.fixture(autouse=True)
def a_language(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    made = Catalogue("xx", "Test", lambda: TEXTS, lambda count: int(count != 1))
    monkeypatch.setitem(catalogues.languages(), "xx", made)
    with speaking("xx"):
        yield


def test_a_text_is_translated_and_a_missing_one_stays_english() -> None:
    assert (say("Paused."), say("Resumed.")) == ("Stannad.", "Resumed.")
    assert say("Key %(name)s", name="50 %") == "Nyckeln 50 %"


def test_a_count_takes_its_form_and_its_separators() -> None:
    one, many = "%(count)s key", "%(count)s keys"
    assert [say_many(one, many, count) for count in (1, 0, 1200)] == ["1 nyckel", "0 nycklar", "1\xa0200 nycklar"]
    with speaking("en"):
        assert [say_many(one, many, count) for count in (1, 0, 1200)] == ["1 key", "0 keys", "1,200 keys"]


def test_figures_days_and_distances_are_written_as_the_language_does() -> None:
    assert (number(1234567), decimal(1234.5, 2)) == ("1\xa0234\xa0567", "1\xa0234,50")
    assert (dated(3, 5), distance(7_200_000)) == ("3 maj", "för 2 tim sedan")


def test_a_text_with_two_meanings_is_distinguished_by_context() -> None:
    assert (say_as("month", "May"), say("May")) == ("maj", "May")


def test_a_language_that_is_not_there_is_english() -> None:
    set_language("tlh")
    assert (language(), say("Paused.")) == ("en", "Paused.")
