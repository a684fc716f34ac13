from __future__ import annotations

import random
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.content.changes.churn import judge
from actors.content.changes.memory import (
    MOST_RECENT,
    PageMemory,
    began_at,
    decode_memory,
    encode,
    settled_of,
    unpack_keys,
)
from tests.actors.content.written_pages import PROSE, html, look, looks, reading
from tests.support.pages import apply

NEWS = "A new tide table for the coming winter has been published and replaces the one that was found to be wrong."


def remembered(*blocks: str) -> PageMemory:
    return look(None, *blocks).memory


def test_the_first_check_is_the_baseline() -> None:
    verdict = look(None)
    assert (verdict.kind, verdict.diff, verdict.delta) == ("baseline", None, None)
    assert settled_of(verdict.memory).texts == ("The shore", *PROSE)


def test_the_same_page_is_unchanged_and_its_memory_need_not_be_saved() -> None:
    memory = remembered()
    verdict = look(memory, number=2)
    assert (verdict.kind, verdict.memory) == ("unchanged", memory)


def test_a_new_paragraph_is_reported_with_diff_and_delta() -> None:
    verdict = look(remembered(), NEWS, *PROSE)
    assert verdict.kind == "changed"
    assert verdict.diff is not None
    assert verdict.diff.added == (NEWS,)
    assert verdict.delta is not None
    assert verdict.delta.stats.added == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The yearly fee for members of the club is $9 and includes the journal.", "$8"),
        ("Members are liable for damage to the hide and to what is kept in it over night.", "are not"),
        ("Applications have to reach the office of the society by 30 June at the latest.", "31 July"),
    ],
)
def test_one_digit_of_a_price_a_negation_and_a_deadline_are_changes(old: str, new: str) -> None:
    changed = {"$8": ("$9", "$8"), "are not": ("are", "are not"), "31 July": ("30 June", "31 July")}[new]
    assert look(remembered(*PROSE, old), *PROSE, old.replace(*changed, 1)).kind == "changed"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("تذكرة البالغين: 90 ريال", "تذكرة البالغين: 95 ريال"),
        ("تذكرة البالغين: ٩٠ درهم", "تذكرة البالغين: ٩٥ درهم"),
        ("Взрослый билет: 900 руб.", "Взрослый билет: 950 руб."),
        ("Квиток: 90 грн", "Квиток: 95 грн"),
        ("Adult ticket: RM 90", "Adult ticket: RM 95"),
        ("Adult ticket: Rs. 900", "Adult ticket: Rs. 950"),
        ("Day ticket: 90 AED", "Day ticket: 95 AED"),
        ("כרטיס למבוגר: 90 ש״ח", "כרטיס למבוגר: 95 ש״ח"),
        ("Felnőtt jegy: 900 Ft", "Felnőtt jegy: 950 Ft"),
    ],
)
def test_a_price_in_any_currency_is_reported_at_once(old: str, new: str) -> None:
    """The judge held it as a possible counter: one of two tables of currencies lacked the currency."""
    assert look(remembered(*PROSE, old), *PROSE, new).kind == "changed"


def test_a_figure_next_to_a_counted_noun_may_be_a_counter() -> None:
    assert look(remembered(*PROSE, "12 readers now"), *PROSE, "15 readers now").kind != "changed"


JAPANESE = (
    "港湾局は今週の潮汐表をここに公開しています。料金は10円です。詳しくは平日の九時から四時までにお電話ください。",
    "船舶の入港については、事前に届け出が必要です。届け出は入港の三日前までに港湾局の窓口で受け付けます。",
)
THAI = ("สำนักงานท่าเรือเผยแพร่ตารางน้ำขึ้นน้ำลงประจำสัปดาห์ไว้ที่นี่และค่าธรรมเนียมเรือ 10 บาท",)


@pytest.mark.parametrize(("page", "amount"), [(JAPANESE, "円"), (THAI, " บาท")], ids=["Japanese", "Thai"])
def test_a_sentence_of_a_script_without_spaces_is_no_label(page: tuple[str, ...], amount: str) -> None:
    memory = remembered(*page)
    assert look(memory, page[0].replace(f"10{amount}", f"11{amount}"), *page[1:]).kind == "changed"
    assert look(memory, *page, "更新日 2026年11月22日").kind == "churn"


def test_a_date_of_one_digit_is_a_date_in_east_asia_too() -> None:
    page = (*JAPANESE, "2026年1月5日 10:30")
    assert look(remembered(*page), *JAPANESE, "2026年2月6日 11:45").kind == "unchanged"


@pytest.mark.parametrize(
    "after",
    [
        (PROSE[2], PROSE[0], PROSE[1], *PROSE[3:]),
        (PROSE[0] + " " + PROSE[1], *PROSE[2:]),
        (PROSE[0].replace(", ", ",<br>"), *PROSE[1:]),
        tuple(text.replace(" ", "  ") for text in PROSE),
        (*PROSE, PROSE[0]),
        (*PROSE, "Updated 3 minutes ago"),
    ],
    ids=["reordered", "merged", "split", "spaced", "repeated", "a label with a time"],
)
def test_order_breaks_space_and_repetition_are_no_change(after: tuple[str, ...]) -> None:
    assert look(remembered(), *after).kind in ("unchanged", "churn")


def test_a_redesign_with_the_same_text_is_no_change() -> None:
    plain = html(*PROSE, around="<nav><ul><li>Home<li>Birds<li>Members of the society</ul></nav>{}")
    other = html(*PROSE, around="<div><div><p>Home<p>Birds<p>Members of the society</div></div><section>{}</section>")
    assert judge(judge(None, reading(plain)).memory, reading(other)).kind in ("unchanged", "churn")


def test_boilerplate_may_change() -> None:
    one = html(*PROSE, around="{}<aside>" + NEWS + "</aside><footer>2,014 visitors, page made in 0.31 seconds</footer>")
    other = html(
        *PROSE, around="{}<footer>Another footer, with a long sentence about the weather of the whole week</footer>"
    )
    assert judge(judge(None, reading(one)).memory, reading(other)).kind in ("unchanged", "churn")


def test_an_unreported_text_that_returns_is_not_reported() -> None:
    memory = remembered()
    verdicts = looks(memory, (*PROSE, "Autumn fair"), PROSE, (*PROSE, "Autumn fair"), PROSE)
    assert [verdict.kind for verdict in verdicts] == ["churn", "unchanged", "churn", "unchanged"]
    assert verdicts[2].score == 0.0


def test_a_page_that_goes_back_after_it_was_reported_is_reported_as_reverted() -> None:
    there, away = look(remembered(), NEWS, *PROSE), PROSE
    stayed = looks(there.memory, *[(NEWS, *PROSE)] * 4)[-1]
    back = look(stayed.memory, *away)
    assert (there.kind, there.reverted) == ("changed", False)
    assert (back.kind, back.reverted) == ("changed", True)
    assert settled_of(back.memory).texts == ("The shore", *PROSE)


def test_a_reported_variant_reverts_silently() -> None:
    faces = (
        "Our readers like the blue edition of this page best of all.",
        "Readers of this page prefer the green edition.",
    )
    drawn = [(*PROSE, faces[face]) for face in (0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0)]
    with_news = (NEWS, *PROSE, faces[1])
    *_, told, back = looks(None, *drawn, with_news, (NEWS, *PROSE, faces[0]))
    assert (told.kind, back.kind) == ("changed", "churn")
    assert "alternates" in back.reason


def test_a_removal_is_reported_although_a_box_rotates_at_the_same_check() -> None:
    faces = (
        "Our readers like the blue edition of this page best of all.",
        "Readers of this page prefer the green edition.",
    )
    drawn = [(*PROSE, faces[face]) for face in (0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0)]
    *_, told, less = looks(None, *drawn, (NEWS, *PROSE, faces[1]), (*PROSE[1:], NEWS, faces[0]))
    assert (told.kind, less.kind) == ("changed", "changed")
    assert less.diff is not None
    assert PROSE[0] in less.diff.removed


def test_a_page_that_shrinks_to_little_is_held_and_reported_when_it_stays() -> None:
    memory = remembered(*PROSE, *(text + " Again." for text in PROSE))
    *held, told = looks(memory, *[["Closed for the season"]] * 4)
    assert [(look.kind, look.delta, look.unsettled) for look in held] == [("held", None, True)] * 3
    assert [look.soon for look in held] == [True, True, False]
    assert told.kind == "changed"


def test_a_replaced_page_must_stay_half_an_hour_however_often_it_is_checked() -> None:
    memory = remembered()
    for minutes in (0, 1, 2, 10, 18, 26):
        verdict = look(memory, "Closed for the season", at=(1_000 + minutes) * 60_000)
        assert verdict.kind == "held"
        memory = verdict.memory
    assert look(memory, "Closed for the season", at=(1_000 + 34) * 60_000).kind == "changed"


def test_a_held_page_that_comes_back_was_nothing() -> None:
    memory = remembered()
    held = look(memory, "Closed for a moment", number=2)
    assert held.kind == "held"
    back = look(held.memory, number=3)
    assert (back.kind, back.memory) == ("unchanged", memory)


def test_a_page_back_after_a_reported_swap_is_reported_at_once() -> None:
    told = looks(remembered(), *[["Closed for the season"]] * 7)
    assert [verdict.kind for verdict in told] == [*["held"] * 3, "changed", *["unchanged"] * 3]
    back = look(told[-1].memory)
    assert (back.kind, back.reverted) == ("changed", True)
    assert settled_of(back.memory).texts == ("The shore", *PROSE)


def test_a_wall_is_held_and_changes_no_memory() -> None:
    memory = remembered()
    wall = judge(memory, reading(html("Please wait", title="Just a moment...")))
    assert (wall.kind, wall.memory) == ("held", memory)
    assert "challenge" in wall.reason


def test_a_wall_at_the_first_check_is_no_baseline() -> None:
    wall = judge(None, reading(html("Please wait", title="Just a moment...")))
    assert wall.kind == "held"
    assert look(wall.memory).kind == "baseline"


def test_masked_text_keeps_its_reported_wording() -> None:
    before = (*PROSE, "<p>Read 12 minutes ago</p>")
    told = look(remembered(*before), NEWS, *PROSE, "<p>Read 59 minutes ago</p>")
    assert told.kind == "changed"
    assert told.delta is not None
    assert told.delta.stats.changed == 0
    assert "Read 12 minutes ago" in settled_of(told.memory).texts


blocks = st.lists(
    st.sampled_from([*PROSE, NEWS, "12:30", "5 comments", "Menu", "From $9", "<h2>Part</h2>"]), max_size=9
)


@settings(max_examples=60, deadline=None)
@given(st.lists(blocks, min_size=2, max_size=6))
def test_a_changed_verdict_always_has_a_delta_that_rebuilds_the_memory(looks: list[list[str]]) -> None:
    memory: PageMemory | None = None
    for shown in looks:
        before = settled_of(memory).texts if memory else ()
        verdict = look(memory, *shown, "The last paragraph stands on every page of this little history of looks.")
        memory = decode_memory(encode(verdict.memory))
        assert memory is not None
        if verdict.kind != "changed":
            assert verdict.diff is verdict.delta is None
            continue
        assert verdict.diff is not None
        assert verdict.delta is not None
        assert verdict.diff.added or verdict.diff.removed or verdict.diff.changed
        assert verdict.delta.ops
        assert tuple(apply(before, verdict.delta)) == settled_of(memory).texts


def test_memory_is_small_bounded_and_survives_its_encoding() -> None:
    memory = remembered()
    for n in range(40):
        memory = look(memory, *PROSE, *(f"label {n} {m}" for m in range(60))).memory
    assert len(unpack_keys(memory.recent)) <= MOST_RECENT
    assert decode_memory(encode(memory)) == memory
    assert len(encode(memory)) < 32_000


def test_a_memory_of_another_version_or_a_damaged_one_gives_a_new_baseline() -> None:
    assert decode_memory(b"\xff\x00nonsense") is None
    assert decode_memory(encode(msgspec.structs.replace(PageMemory(), version=99))) is None


def test_a_page_larger_than_memory_keeps_is_still_judged() -> None:
    many = [
        f"Paragraph number {n} of a very long page, which says {n} times that the tide comes in." * 3
        for n in range(1500)
    ]
    memory = remembered(*many)
    assert look(memory, *many).kind == "unchanged"
    verdict = look(memory, NEWS, *many)
    assert verdict.kind == "changed"
    assert verdict.diff is not None
    assert verdict.diff.added == (NEWS,)
    assert verdict.diff.removed == ()


def test_a_line_of_figures_that_keep_changing_is_a_ticker() -> None:
    def line(*figures: str) -> str:
        return "DAX {} {} % Gold {}".format(*figures)

    first = look(remembered(line("15630", "-1.27", "1704.2"), *PROSE), line("15641", "-1.20", "1699.0"), *PROSE)
    second = look(first.memory, line("15702", "-0.90", "1701.5"), *PROSE)
    assert second.kind == "churn"


def test_a_label_with_another_date_is_a_change() -> None:
    before, after = ((*PROSE[:3], f"Date: {date} 2026", *PROSE[3:]) for date in ("18 October", "14 November"))
    assert look(remembered(*before), *after).kind == "changed"


def test_an_address_and_the_placeholder_that_hides_it_are_the_same() -> None:
    text = "Write to {} before the end of the month if you want to come along to the hide."
    hidden, shown = text.format("[email protected]"), text.format("office@shore.example")
    assert look(remembered(*PROSE, hidden), *PROSE, shown).kind == "churn"
    assert look(remembered(*PROSE, text.format("hide@shore.example")), *PROSE, shown).kind == "changed"


def test_a_mega_menu_that_is_most_of_a_page_is_still_a_menu() -> None:
    menu = "".join(f"<div><p>Offer number {n} for teams in sales</p><a>More</a></div>" for n in range(16))
    page = '<div class="nav_wrap">{}</div><h1>Product</h1><p>' + "</p><p>".join(PROSE) + "</p>"
    one, other = (reading(html(around=page.format(m) + "<!--{}-->")) for m in (menu, menu.replace("sales", "law")))
    assert judge(judge(None, one).memory, other).kind == "unchanged"


def test_headlines_below_a_box_of_links_are_content_again() -> None:
    links = "".join(f"<h3><a>The headline of story number {n} is this</a></h3>" for n in range(40))
    fronts = [f"<body><h1>Front</h1><p>Most read</p>{links}<h3><a>{last}</a></h3>" for last in ("It rains again", NEWS)]
    one, other = (reading(front.encode()) for front in fronts)
    assert judge(judge(None, one).memory, other).kind == "changed"


FLIPPED = (
    "Der Sanderling läuft an der Flutlinie entlang und pickt auf, was jede Welle freilegt, den ganzen Winter lang.",
    "Er brütet in der hohen Arktis und fliegt einige zehntausend Kilometer zu seinen Stränden im Süden der Welt.",
    "Ein Schwarm bewegt sich wie ein einziger Vogel und wendet mit dem Schaum, damit kein Fuß lange nass wird.",
    "Beringte Vögel sind auf demselben Stück Sand elf Winter hintereinander gesehen worden, und das ist viel.",
)


def test_a_page_in_another_language_for_one_check_is_no_change() -> None:
    memory = remembered()
    held = judge(memory, reading(html(*FLIPPED, title="Der Strand")))
    assert held.kind == "held"
    assert look(held.memory).kind == "unchanged"
    again = held
    for _ in range(2):
        again = judge(again.memory, reading(html(*FLIPPED, title="Der Strand")))
        assert again.kind == "held"
    assert judge(again.memory, reading(html(*FLIPPED, title="Der Strand"))).kind == "changed"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<table><tr><td>Deadline</td><td>30 June 2026</td></tr></table>", ("30 June", "31 July")),
        ("<p>Places left: 12</p>", ("12", "11")),
        ("<p>Date: November 19, 2026 2:30 pm – 3:30 pm</p>", ("19", "20")),
        ("<p>Deadline: 3 March 2026, 12:00</p>", ("12", "18")),
        ("<p>Ab 49,-€</p>", ("49", "59")),
        ("<p>CHF 20</p>", ("20", "25")),
        ("<p>99:-</p>", ("99", "89")),
    ],
)
def test_a_date_or_figure_stated_as_a_fact_is_reported(old: str, new: tuple[str, str]) -> None:
    before, after = ((*PROSE[:3], shown, *PROSE[3:]) for shown in (old, old.replace(*new)))
    assert look(remembered(*before), *after).kind == "changed"


@pytest.mark.parametrize("old", ["Shared 112 times", "112 mal gelesen", "Stand: 3 March 2026", "112 kommentarer"])
def test_a_counter_and_the_date_of_an_edit_are_no_facts(old: str) -> None:
    before, after = (
        (*PROSE[:3], shown, *PROSE[3:]) for shown in (old, old.replace("112", "117").replace("3 M", "4 M"))
    )
    assert look(remembered(*before), *after).kind in ("unchanged", "churn")


def test_the_version_at_the_foot_of_a_text_is_that_of_the_sites_software() -> None:
    foot = ("Version 1.2.{}", "This site is run by the society, which answers for none of the pages that it links to.")
    many = [f"{text} On stretch {n}." for n in range(10) for text in PROSE]
    one, other = ((*many, foot[0].format(n), foot[1]) for n in (3, 4))
    assert look(remembered(*one), *other).kind == "churn"
    one, other = ((*many[:9], foot[0].format(n), *many[9:]) for n in (3, 4))
    assert look(remembered(*one), *other).kind == "changed"


def test_a_memory_keeps_the_time_of_its_first_check() -> None:
    memory = look(None, at=5_000, number=1).memory
    told = look(memory, NEWS, *PROSE, at=9_000, number=2)
    assert told.kind == "changed"
    assert (began_at(encode(memory)), began_at(encode(told.memory))) == (5_000, 5_000)
    fields = msgspec.msgpack.decode(encode(memory))
    of_before = msgspec.msgpack.encode(fields[: PageMemory.__struct_fields__.index("began")])
    assert decode_memory(of_before) is not None and began_at(of_before) == 0
    assert began_at(b"rubbish") == 0


@pytest.mark.parametrize("seed", range(4))
def test_a_text_that_alternates_for_days_is_not_reported_at_a_quick_return(seed: int) -> None:
    dice, memory, reported = random.Random(seed), None, list[int]()
    editions = ("Our readers like the blue edition best.", "Readers of this page prefer the green edition.")
    for number in range(1, 500):
        verdict = look(memory, *PROSE, dice.choice(editions), number=number, at=number * 1_200_000)
        memory = verdict.memory
        if verdict.kind == "changed":
            reported.append(number)
    lately = [now - before for before, now in pairwise(reported) if before > 72]
    assert all(checks > 2 for checks in lately)
    assert len(lately) < 6
