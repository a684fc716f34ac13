from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from actors.content.changes.diff import DiffContexts, compare, of_change
from actors.content.messages import Withheld
from actors.content.wording.words import cut, of_text
from storage.records.event import MOST_SUMMARY, Change, Context, Contexts, Diff

TEXTS = st.text(max_size=300)
CONTEXTS = st.builds(Context, *[st.text(max_size=120)] * 3)
SEATS = Change("10", "12", Context("Plans and pricing", "Team", "Seats"))


def summary(diff: Diff, *weighed: Withheld, title: str = "Acme") -> str:
    return of_change(diff, weighed, title)


def came(text: str, score: float = 1.0) -> Withheld:
    return Withheld(text, "", "", came=True, score=score)


@given(st.lists(TEXTS, max_size=4), st.lists(TEXTS, max_size=4), st.lists(CONTEXTS, max_size=8), TEXTS)
def test_a_summary_is_one_line_of_at_most_140_characters_and_never_empty(
    before: list[str], after: list[str], contexts: list[Context], title: str
) -> None:
    diff, _ = compare(before, after, DiffContexts(contexts[:4], contexts[4:]))
    for line in (of_change(diff, (), title), of_text(title, *after)):
        assert 0 < len(line) <= MOST_SUMMARY
        assert len(line.splitlines()) == 1
        assert not any(unicodedata.category(each) == "Cc" for each in line)
        assert line.count("\u2066") + line.count("\u2068") == line.count("\u2069")


def test_the_heaviest_change_is_reported_with_its_position() -> None:
    diff = Diff(("Head of Sales",), (), (SEATS,), context=Contexts((Context("Open positions"),), ()))
    assert summary(diff, came("12", 0.9), came("Head of Sales", 0.5)) == (
        "Plans and pricing › Team · Seats: 10 → 12 (+1 more)"
    )
    assert summary(diff, came("Head of Sales"), came("12", 0.3)) == "Open positions: + Head of Sales (+1 more)"


def test_both_halves_of_a_change_weigh() -> None:
    diff = Diff(("Head of Sales",), (), (SEATS,))
    gone = Withheld("10", "", "", came=False, score=0.5)
    assert "10 → 12" in summary(diff, came("Head of Sales", 0.6), came("12", 0.4), gone)


def test_a_removal_has_a_minus_and_without_context_the_title() -> None:
    assert summary(Diff((), ("Free plan",), ())) == "Acme: − Free plan"
    assert summary(Diff(("x",), (), ()), title="") == "+ x"


def test_a_long_change_is_shown_from_shortly_before_the_words_that_differ() -> None:
    start = "We may keep what you send to us for as long as the law of the country in which you live asks us to, and "
    diff, _ = compare([start + "we share it with partners."], [start + "we do not share it with partners."])
    assert (
        summary(diff) == "Acme: …us to, and we share it with partners. → …us to, and we do not share it with partners."
    )
    other, _ = compare([start * 4 + "nobody ever."], [start * 4 + "everybody."])
    line = summary(other)
    assert "nobody" in line and "everybody" in line


def test_a_cut_comes_at_the_end_of_a_word_and_never_before_a_mark() -> None:
    assert cut("One two three four", 12) == "One two…"
    assert cut("日本語のとても長いニュース", 6) == "日本語のと…"
    marks = "e\u0301" * 40
    assert all(len(cut(marks, most).rstrip("…")) % 2 == 0 for most in range(3, 60))


def test_before_and_after_keep_their_order_in_right_to_left_text() -> None:
    diff = Diff((), (), (Change("10", "12", Context("תוכניות", "צוות", "מושבים")),))
    assert summary(diff) == "\u2068תוכניות › צוות · מושבים: \u2069\u2066\u206810\u2069 → \u206812\u2069\u2069"


def test_directional_marks_are_removed() -> None:
    assert summary(Diff(("\u202eevil\u2066",), (), ())) == "Acme: + evil"
    assert of_text("\u202e\u2066", "two\u2028lines") == "two lines"


def test_japanese_reads_well() -> None:
    diff = Diff((), (), (Change("十円", "百円", Context("料金表", "チーム", "価格")),))
    assert summary(diff) == "料金表 › チーム · 価格: 十円 → 百円"
