"""Content that stays is news: pending changes, returns and alternations, restless places, and substituted pages."""

from __future__ import annotations

import pytest

from actors.content.changes.churn import ChangeVerdict, judge
from actors.content.changes.memory import PageMemory, decode_memory, encode, settled_of
from actors.content.changes.swaps import CheckMoment
from tests.actors.content.written_pages import html, reading

MINUTE = 60_000
FRAME = ("Opened in 1901", "Mill Street 4")
HOME = ("Welcome", "Fine things for the house", "Discover our collection", "Visit our stores", "Our letter")


class Watched:
    """A page checked every 20 minutes."""

    def __init__(self, *blocks: str, title: str = "Shop", address: str = "https://shore.example/shop") -> None:
        self.memory: PageMemory | None = None
        self.at, self.title, self.address = 1_800_000_000_000, title, address
        self.look(*blocks)

    def look(
        self, *blocks: str, title: str | None = None, address: str | None = None, after: int = 20, around: str = "{}"
    ) -> ChangeVerdict:
        self.at += after * MINUTE
        page = html(*FRAME, *blocks, title=title or self.title, around=around)
        stored = None if self.memory is None else decode_memory(encode(self.memory))
        verdict = judge(stored, reading(page), when=CheckMoment(0, self.at), address=address or self.address)
        self.memory = verdict.memory
        return verdict

    def kinds(self, *pages: str, **more: object) -> list[str]:
        """Check pages of one block each; return the kind of each verdict."""
        return [self.look(page, **more).kind for page in pages]  # type: ignore[arg-type]  # as `look` takes them


def items(*texts: str) -> str:
    return f"<ul>{''.join(f'<li>{text}</li>' for text in texts)}</ul>"


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("Sold out", "In stock"),
        ("Free", "$9"),
        ("Bo Ek", "Dan Falk"),
        ("Öppet", "Stängt"),
        ("在庫あり", "売り切れ"),
        ("متوفر", "نفد"),
        ("Planowo", "Opóźniony do 09:25"),
        ("Delayed until 21:20", "On time"),
    ],
)
def test_a_short_text_replaced_in_its_place_is_reported(was: str, now: str) -> None:
    assert Watched(was).kinds(now) == ["changed"]


def test_the_changed_one_of_equal_labels_is_reported() -> None:
    states = items("Operational"), items("Web: up", "Operational", "Outage", "Operational")
    page = Watched(items("Web: up", "Operational", "Operational", "Operational"))
    assert states and page.look(states[1]).kind == "changed"
    back = page.look(items("Web: up", "Operational", "Operational", "Operational"))
    assert back.delta is not None and [op.op for op in back.delta.ops] == ["replace"]
    assert back.delta.ops[0].para == 5


def test_entries_come_and_go_one_by_one_and_each_is_reported() -> None:
    page = Watched(items("Head of Sales", "Recruiter"))
    lists = [("Head of Sales", "Recruiter", "Clerk"), ("Recruiter", "Clerk"), ("Recruiter", "Clerk", "Data Analyst")]
    assert page.kinds(*(items(*names) for names in lists)) == ["changed"] * 3


def test_small_changes_add_up_until_they_are_reported() -> None:
    page = Watched()
    kinds = [page.look(*extra).kind for extra in (("Note",), ("Note", "Map"), ("Note", "Map", "Fax")) * 2]
    assert kinds[0] == "churn"
    assert "changed" in kinds


@pytest.mark.parametrize("figure", ["{} users", "{} seats taken", "{}"])
def test_a_figure_counts_once_it_stays_and_never_if_it_changes_at_each_check(figure: str) -> None:
    first = Watched(figure.format(10)).look(figure.format(5))
    assert (first.kind, first.unsettled) == ("churn", True)
    stays, runs = Watched(figure.format(10)), Watched(figure.format(10))
    assert stays.kinds(*[figure.format(5)] * 3) == ["churn", "changed", "unchanged"]
    assert "changed" not in runs.kinds(*(figure.format(n) for n in range(11, 19)))


def test_a_status_that_alternates_is_reported_each_time_as_reverted() -> None:
    page = Watched("Operational")
    told = []
    for state in ("Outage", "Operational", "Outage", "Operational"):
        verdict = page.look(state)
        told.append((verdict.kind, verdict.reverted))
        assert page.kinds(*[state] * 3) == ["unchanged"] * 3
    assert told == [("changed", False), *[("changed", True)] * 3]


def test_a_text_that_takes_turns_with_another_is_silent_until_it_lasts() -> None:
    one = "The best service that we ever had from anyone in this trade. A. Holm"
    other = "They answered within the hour and solved everything at once. B. Ray"
    page = Watched(one)
    assert page.kinds(other, other, other)[-1] == "changed"
    turns = [page.look(text) for text in (one, one, one)]
    assert [turn.kind for turn in turns if turn.kind == "changed"] == []
    assert page.kinds(one, one)[-1] in ("changed", "unchanged")
    assert settled_of(page.memory or PageMemory()).texts[-1] == one


def test_a_place_that_shows_something_else_each_time_is_restless() -> None:
    tips = [
        f"Tip of the day number {word}: oil your {word} boots" for word in ("red", "old", "new", "tall", "dry", "wet")
    ]
    page = Watched("Buy our letter opener of brass while it is there")
    verdicts = [page.look(tip) for tip in tips]
    assert "changed" not in [verdict.kind for verdict in verdicts]
    assert "changes at nearly every check" in {block.rule[11:] for block in verdicts[-1].withheld}.pop()


def test_a_date_that_changes_at_each_check_is_reported_once_it_stays() -> None:
    days = [f"Version in force on {day} May 2026" for day in range(2, 12)]
    page = Watched(days[0])
    assert page.kinds(*days[1:]) == ["held", *["churn"] * 8]
    assert page.kinds(*[days[-1]] * 3).count("changed") == 1


def test_an_id_that_ends_with_the_name_of_a_place_has_to_stay() -> None:
    one, other, third = "ID 18d47a9af6fa2cff-LHR", "ID 4f3d79a48add439f-FRA", "ID 658818d2060c60bb-ARN"
    assert Watched(one).kinds(other, third) == ["churn", "churn"]
    assert Watched(one).kinds(other, other) == ["churn", "changed"]


def test_all_dates_shifted_by_a_day_are_a_time_zone_and_one_date_is_a_change() -> None:
    def dates(*days: int) -> str:
        return items(
            *(f"{name} on {day} March 2027" for name, day in zip(("Fair", "Walk", "Lecture"), days, strict=True))
        )

    assert Watched(dates(3, 9, 31)).look(dates(4, 10, 30)).kind == "changed"
    assert Watched(dates(3, 9, 12)).kinds(dates(4, 10, 13), dates(4, 10, 13)) == ["churn", "churn"]
    assert Watched(dates(3, 9, 12)).look(dates(4, 9, 12)).kind == "changed"


def test_another_page_in_the_place_that_goes_again_is_never_reported() -> None:
    page = Watched(items("A jar", "A mug", "A pan"))
    for looks in (1, 2, 3):
        away = [page.look(*HOME, title="Northfield", address="https://shore.example/").kind for _ in range(looks)]
        assert away == ["held"] * looks
        assert page.kinds(items("A jar", "A mug", "A pan")) == ["unchanged"]


def test_a_different_page_at_another_address_is_a_move_with_its_target() -> None:
    page = Watched(items("A jar", "A mug", "A pan"))
    verdicts = [page.look(*HOME, title="Northfield", address="https://shore.example/new") for _ in range(4)]
    assert [verdict.kind for verdict in verdicts] == ["held", "held", "held", "moved"]
    assert verdicts[-1].moved_to == "https://shore.example/new"
    assert verdicts[-1].delta is not None
    assert page.look(*HOME, title="Northfield", address="https://shore.example/new").kind == "unchanged"


def test_a_page_rewritten_under_its_title_and_address_needs_a_second_check_only() -> None:
    prose = [f"Paragraph {n} says what the society did in the {n}th year of its being." for n in range(8)]
    other = [f"Section {n}: in plain words, what we promise to those who come in year {n}." for n in range(8)]
    page = Watched(*prose)
    assert [page.look(*other).kind, page.look(*other, after=1).kind] == ["held", "changed"]


def test_an_error_page_is_never_reported_and_fails_from_the_twelfth_check_on() -> None:
    page = Watched(*(f"Offer number {n}, a fine thing for the house and the garden of yours" for n in range(12)))
    error = (
        "Something went wrong",
        *(f"Look at {n} other pages of this fine site of ours instead of it" for n in range(19)),
    )
    verdicts = [page.look(*error, title="Something went wrong") for _ in range(14)]
    assert {verdict.kind for verdict in verdicts} == {"held"}
    assert [verdict.trouble is not None for verdict in verdicts] == [*[False] * 12, True, True]


def test_a_check_numbered_by_its_caller_changes_no_memory_without_a_change() -> None:
    first = judge(None, reading(html(*FRAME)), when=CheckMoment(1, 0))
    later = judge(first.memory, reading(html(*FRAME)), when=CheckMoment(77, 0))
    assert later.memory == first.memory


def test_in_a_small_chosen_part_every_check_counts() -> None:
    memory: PageMemory | None = None
    kinds = []
    for n, value in enumerate(("3", "7", "3", "12 readers", "Closed", "3")):
        page = reading(html(*FRAME, f"<p class=value>{value}</p>"), ".value")
        verdict = judge(memory, page, when=CheckMoment(0, n * 20 * MINUTE), chosen=True)
        memory = verdict.memory
        kinds.append(verdict.kind)
    assert kinds == ["baseline", *["changed"] * 5]


def test_a_chosen_list_that_is_empty_once_is_held_and_not_reported() -> None:
    def look(memory: PageMemory | None, n: int, *names: str) -> ChangeVerdict:
        page = html(*FRAME, f"<div class=list>{items(*names)}</div>")
        return judge(memory, reading(page, ".list"), when=CheckMoment(0, n * 20 * MINUTE), chosen=True)

    names = [f"Entry number {n}" for n in range(8)]
    for left in ((), names[:1]):
        first = look(None, 1, *names)
        away = look(first.memory, 2, *left)
        assert away.kind == "held"
        assert look(away.memory, 3, *names).kind == "unchanged"
