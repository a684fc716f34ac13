"""Labels mask past times in 40 locales; future times and numbers with meaning stay."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from actors.content.wording.canonical import canonical
from actors.content.wording.words import word_lists
from tests.actors.content.generated import babel_or_skip

LOCALES = word_lists("cldr")["words"]["locales"].split("|")


def past_forms() -> Iterator[str]:
    for line in word_lists("cldr")["ago"].values():
        yield from line.split("|")


def test_each_past_form_is_masked_with_any_figure() -> None:
    rng = random.Random(40)
    for form in past_forms():
        one, other = (form.replace("#", str(rng.randrange(2, 60))) for _ in range(2))
        assert canonical(f"Xyz: {one}") == canonical(f"Xyz: {other}") == "xyz ⟨ago⟩", form


def test_a_figure_may_stand_close_to_its_word_and_a_dot_be_left_out() -> None:
    assert canonical("vor 5Min") == canonical("vor 12 Min.") == canonical("5 мин назад") == "⟨ago⟩"


def test_each_past_form_without_a_figure_is_masked(subtests: pytest.Subtests) -> None:
    for form in word_lists("cldr")["words"]["past"].split("|"):
        with subtests.test(form):
            assert canonical(f"Xyz: {form}") == "xyz ⟨ago⟩"


def test_today_and_yesterday_are_masked_in_each_locale_and_the_text_around_stays(
    subtests: pytest.Subtests,
) -> None:
    for locale in LOCALES:
        with subtests.test(locale):
            today, yesterday, *_ = word_lists("cldr")["said"][locale].split("; ")
            for word in (*today.split("|"), *yesterday.split("|")):
                assert canonical(word) == "⟨ago⟩"
                if len(word) > 2:
                    assert canonical(f"Xyz {word}") == "xyz ⟨ago⟩"
                    assert canonical(f"Xyzw {word}") != canonical(f"Xyz {word}")


def test_today_yesterday_and_days_ago_are_one_label_that_changes_by_itself() -> None:
    labels = (
        "Updated today",
        "Updated yesterday",
        "Updated 2 days ago",
        "Updated in the last hour",
        "Updated just now",
    )
    assert len({canonical(label) for label in labels}) == 1
    assert canonical("Open today") != canonical("Closed today")


@pytest.mark.parametrize(
    "label",
    [
        "in 3 days",
        "in 3 Tagen",
        "dans 3 jours",
        "dentro de 3 días",
        "через 3 дня",
        "3日後",
        "3天后",
        "3일 후",
        "за 3 дні",
    ],
)
def test_a_future_date_is_reported(label: str) -> None:
    assert canonical(f"Xyz {label}") != canonical(f"Xyz {label.replace('3', '2')}")


def test_no_future_form_of_any_locale_is_masked() -> None:
    babel = babel_or_skip()
    for name in LOCALES:
        fields = babel.Locale.parse(name)._data["date_fields"]
        for unit in ("minute", "hour", "day", "week", "month", "year"):
            for form in fields[unit]["future"].values():
                assert "⟨ago⟩" not in canonical(f"Xyz {form.replace('{0}', '7')}"), form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Trial: 3 days", "Trial: 4 days"),
        ("Open this week", "Open next week"),
        ("Sold a week ago", "Not sold a week ago"),
        ("In a month", "In a year"),
        ("Delivery for 3 min", "Delivery for 4 min"),
        ("キャンセルは3日前まで", "キャンセルは4日前まで"),
        ("3 napja", "4 napja"),
        ("-3 d", "-4 d"),
        ("Most popular", "Popular"),
        ("Sad story", "Story"),
        ("Ma bohème", "Bohème"),
    ],
)
def test_figures_and_words_that_resemble_relative_times_are_content(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


def test_in_sentences_and_cells_these_words_are_content() -> None:
    sentence = "Die Sitzung fand {} im kleinen Saal statt und dauerte, wie zu erwarten war, sehr lange."
    assert canonical(sentence.format("gestern")) != canonical(sentence.format("heute"))
    assert canonical("oggi", cell=True) != canonical("ieri", cell=True)


def test_the_lists_equal_babels() -> None:
    babel_or_skip()
    from release.cldr import TARGET, made, said_kept

    text = TARGET.read_text("utf-8")
    assert made(said_kept(text)) == text, "run `make cldr`"


@pytest.mark.parametrize(
    "label",
    [
        "14 novembre 2026 à 10:32", "14 de noviembre de 2026, 10:32", "14. marraskuuta 2026 klo 10:32",
        "14 listopada 2026 o 10:32", "14 ноября 2026 в 10:32", "14 Kasım 2026 10:32", "14 novembre 2026 ore 10:32",
        "14. 11. 2026 10:32", "14.11.2026 kl. 10:32", "2026-11-14 10:32", "2026年11月14日 10:32",
    ],
)  # fmt: skip
def test_a_date_with_a_time_of_day_is_masked_in_any_language(label: str) -> None:
    assert canonical(f"Xyz {label}") == "xyz ⟨when⟩"
