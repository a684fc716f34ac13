"""Dates in 40 locales, and pages whose dates all moved by one day."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from itertools import pairwise

import pytest

from actors.content.wording.canonical import canonical
from actors.content.wording.dates import dates_in, days_moved, is_dated, is_only_date, speaks_of_edits
from actors.content.wording.words import word_lists
from tests.actors.content.generated import babel_or_skip

LOCALES = word_lists("cldr")["words"]["locales"].split("|")
WIDTHS = ("full", "long", "medium", "short")
BARE = {("ko", "short"), ("sl", "short")}
"""Three bare two-digit numbers ("26. 1. 14.") may also be a score."""
WRITTEN = [(locale, width) for locale in LOCALES for width in WIDTHS if (locale, width) not in BARE]


@pytest.fixture(name="written")
def writer() -> Callable[[date, str, str], str]:
    babel_or_skip()
    from babel.dates import format_date  # type: ignore[import-not-found,import-untyped,unused-ignore]

    return lambda day, width, locale: str(format_date(day, width, locale=locale))


def test_each_locale_s_dates_are_recognised_in_each_width(
    written: Callable[[date, str, str], str], subtests: pytest.Subtests
) -> None:
    for locale, width in WRITTEN:
        with subtests.test(f"{locale} {width}"):
            for month in range(1, 13):
                # From the 10th on: "3.01.26" may be a version.
                day = date(2026, month, 10 + month)
                text = canonical(f"xyz {written(day, width, locale)} xyz")
                (found,) = dates_in(text)
                assert (day.year, day.month, day.day) in found.readings, text
                assert is_only_date(canonical(written(day, width, locale)))


def test_any_day_and_its_neighbour_are_a_shift_and_others_are_none(
    written: Callable[[date, str, str], str], subtests: pytest.Subtests
) -> None:
    for locale, width in [pair for pair in WRITTEN if pair[1] != "short"]:
        with subtests.test(f"{locale} {width}"):
            rng = random.Random(f"{locale} {width}")
            for _ in range(30):
                day = date(2024, 1, 1) + timedelta(rng.randrange(1500))
                one, next_day, later = (
                    canonical(f"xyz {written(day + timedelta(days), width, locale)}")
                    for days in (0, 1, rng.randrange(2, 300))
                )
                assert days_moved(one, next_day) == 1, (one, next_day)
                assert days_moved(next_day, one) == -1
                assert days_moved(one, later) == 0, (one, later)
                assert days_moved(one, one) == 0


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("14 novembre 2026", {(2026, 11, 14)}),
        ("2026 11 14", {(2026, 11, 14)}),
        ("03/04/2026", {(2026, 4, 3), (2026, 3, 4)}),
        ("11/14/26", {(2026, 11, 14)}),
        ("14 listopada 2026", {(2026, 10, 14), (2026, 11, 14)}),
        ("november 2026", {(2026, 11, 0)}),
        ("4th of july", {(0, 7, 4)}),
        ("11月14日", {(0, 11, 14)}),
        ("١٤ نوفمبر ٢٠٢٦", {(2026, 11, 14)}),
        ("14 พ ย 2569", {(2026, 11, 14)}),
        ("14 tháng 11 2026", {(2026, 11, 14)}),
        ("14 בנובמבר 2026", {(2026, 11, 14)}),
    ],
)
def test_a_date_has_the_readings_it_may_have(text: str, readings: set[tuple[int, int, int]]) -> None:
    (found,) = dates_in(text)
    assert set(found.readings) == readings


@pytest.mark.parametrize(
    "text",
    ["version 1.2.26", "10.11.12.13", "31 february 2026", "2026-13-01", "3 set", "4 out", "page 3 of 12", "may",
     "99/99/99", "$1.10.2026", "call 555 2026", "14 11", "²", "", "⟨when⟩", "12:30"],
)  # fmt: skip
def test_text_that_only_resembles_a_date_is_not_one(text: str) -> None:
    assert dates_in(text) == []


@pytest.mark.parametrize(
    ("old", "new", "step"),
    [
        ("posted 31 january", "posted 1 february", 1),
        ("posted 31 dezember 2026", "posted 1 januar 2027", 1),
        ("posted 31 december", "posted 1 january", 1),
        ("posted 28 feb", "posted 1 mar", 1),
        ("posted 29 feb", "posted 1 mar", 1),
        ("posted 28 feb 2024", "posted 1 mar 2024", 0),
        ("from 3 may 2026 to 9 may 2026", "from 4 may 2026 to 10 may 2026", 1),
        ("from 3 may 2026 to 9 may 2026", "from 4 may 2026 to 9 may 2026", 0),
        ("from 3 may 2026 to 9 may 2026", "from 4 may 2026 to 8 may 2026", 0),
        ("sat 14 nov 2026", "fri 13 nov 2026", -1),
        ("saal 3 14 nov 2026", "saal 4 15 nov 2026", 0),
        ("14 nov 2026", "14 nov 2027", 0),
        ("14 nov", "15 nov 2026", 0),
        ("november 2026", "december 2026", 0),
        ("only words", "other words", 0),
        ("03/04/2026", "04/04/2026", 1),
        ("03/31/2026", "04/01/2026", 1),
    ],
)
def test_a_shift_is_of_every_date_by_one_day_and_of_nothing_else(old: str, new: str, step: int) -> None:
    assert days_moved(old, new) == step


def test_hostile_text_costs_no_more_than_its_length() -> None:
    rng = random.Random(7)
    pieces = ("1", "31", "may", "de", "2026", "-", "/", ".", " ", "tháng", "พ", "年", "⟨when⟩", "mon")
    for _ in range(300):
        text = "".join(rng.choice(pieces) for _ in range(rng.randrange(400)))
        found = dates_in(text)
        assert all(one.end <= other.start for one, other in pairwise(found))
        assert days_moved(text, text + "1") in {-1, 0, 1}
    assert dates_in("1 " * 1_000_000) == []


@pytest.mark.parametrize("text", ["november", "14 nov", "mon 14 nov 2026", "14 november 2026 at 10", "14. 11. 2026"])
def test_a_text_of_a_date_alone_is_one(text: str) -> None:
    assert is_only_date(canonical(text))


@pytest.mark.parametrize("text", ["markets", "mario", "set", "14 november 2026 meeting", "3", "", "sunday"])
def test_a_text_with_other_words_is_no_date_alone(text: str) -> None:
    assert not is_only_date(text)


@pytest.mark.parametrize(
    "text",
    ["Effective date: November 14, 2026", "Gültig ab 14. November 2026", "En vigueur le 14 novembre 2026",
     "Voimassa 14. marraskuuta 2026", "Обязательно с 14 ноября 2026 г.", "発効日: 2026年11月14日",
     "Effective 2026-11-14"],
)  # fmt: skip
def test_a_label_with_the_date_it_is_about_is_dated(text: str) -> None:
    assert is_dated(canonical(text))


@pytest.mark.parametrize(
    "text",
    ["Updated: November 14, 2026", "Friday 14 November 2026", "14 November 2026", "Room 14", "Effective November"],
)
def test_stamps_and_bare_dates_are_no_label(text: str) -> None:
    assert not is_dated(canonical(text))


@pytest.mark.parametrize(
    "text",
    ["Last updated: 14 November 2026", "Stand: 14.11.2026", "Mis à jour le 14 novembre 2026", "Actualizado hoy",
     "Ultimo aggiornamento 14 novembre 2026", "Atualizado em 14/11/2026", "Bijgewerkt op 14 november 2026",
     "Senast uppdaterad 14 november 2026", "Sidst opdateret 14. november 2026", "Sist oppdatert 14. november 2026",
     "Päivitetty 14.11.2026", "Ostatnia aktualizacja: 14 listopada 2026", "Aktualizováno 14. listopadu 2026",
     "Utolsó frissítés: 2026. november 14.", "Τελευταία ενημέρωση: 14 Νοεμβρίου 2026", "Son güncelleme: 14 Kasım 2026",
     "Обновлено 14 ноября 2026 г.", "Оновлено 14 листопада 2026", "Актуализирано на 14 ноември 2026",
     "آخر تحديث: 14 نوفمبر 2026", "עודכן 14 בנובמבר 2026", "Diperbarui 14 November 2026", "Cập nhật 14/11/2026",
     "อัปเดต 14 พฤศจิกายน 2569", "最終更新日: 2026年11月14日", "更新于 2026年11月14日",
     "업데이트: 2026년 11월 14일", "Last updated"],
)  # fmt: skip
def test_a_stamp_of_an_edit_is_known_in_many_languages(text: str) -> None:
    assert speaks_of_edits(canonical(text)), canonical(text)


@pytest.mark.parametrize("text", ["Modification of the terms", "Journalists"])
def test_a_word_that_only_resembles_one_for_editing_is_none(text: str) -> None:
    assert not speaks_of_edits(canonical(text))


def test_a_text_about_edits_may_be_no_time_stamp() -> None:
    assert speaks_of_edits("we updated our prices for all plans of the year and more")
