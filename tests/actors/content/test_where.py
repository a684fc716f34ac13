from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from actors.content.changes.diff import DiffContexts, compare
from actors.content.changes.difference import StateContexts
from actors.content.changes.memory import SettledState, decode_memory
from actors.content.messages import PageLook, PageRequest
from actors.content.pages.traits import HEADING, TOP
from actors.content.tasks import look_page
from storage.records.event import CONTENT_CAP, MOST_CONTEXT, Change, Context, Diff
from tests.actors.content.written_pages import PROSE, URL, html
from tests.support.pages import apply

PLANS = "<h2>Plans</h2><table><tr><th>Plan<th>Price<th>Seats</tr>{}</table>"


def plans(*rows: str) -> str:
    return PLANS.format("".join("<tr><td>" + "<td>".join(row.split("|")) + "</tr>" for row in rows))


def looks(*pages: bytes, memory: bytes | None = None) -> PageLook:
    """Return the last of several checks."""
    for page in pages:
        last = look_page(PageRequest(page, "text/html", URL, memory=memory))
        memory = last.memory
    return last


def told(*pages: bytes, memory: bytes | None = None) -> tuple[PageLook, Diff]:
    last = looks(*pages, memory=memory)
    assert last.kind == "changed" and last.diff is not None
    return last, last.diff


def test_a_changed_cell_says_its_heading_its_row_and_its_column() -> None:
    before, after = plans("Free|$0|3", "Team|$9|10"), plans("Free|$0|3", "Team|$12|12")
    look, diff = told(html(before), html(after))
    assert diff.changed == (
        Change("$9", "$12", Context("Plans", "Team", "Price"), diff.changed[0].spans),
        Change("10", "12", Context("Plans", "Team", "Seats")),
    )
    assert look.delta is not None
    assert [op.context for op in look.delta.ops] == [change.context for change in diff.changed]
    assert look.summary in ("Plans › Team · Price: $9 → $12 (+1 more)", "Plans › Team · Seats: 10 → 12 (+1 more)")


def test_a_removed_cell_has_its_old_position() -> None:
    _, diff = told(html(plans("Free|$0|3", "Team|$9|10")), html(plans("Free|$0|3")))
    assert diff.removed == ("Team", "$9", "10")
    assert diff.context is not UNSET
    assert diff.context.removed == (
        Context("Plans", column="Plan"),
        Context("Plans", "Team", "Price"),
        Context("Plans", "Team", "Seats"),
    )


def test_an_added_row_and_a_removed_row_are_not_one_changed_row() -> None:
    _, diff = told(
        html(plans("Free|$0 per month|3", "Team|$9 per month|10")),
        html(plans("Free|$0 per month|3", "Business|$99 per month|50")),
    )
    assert not diff.changed
    assert "$99 per month" in diff.added and "$9 per month" in diff.removed


def test_a_paragraph_stands_below_its_heading_and_a_heading_below_the_pages_own() -> None:
    _, diff = told(
        html(*PROSE, "<h2>Jobs</h2>", PROSE[0]),
        html(*PROSE, "<h2>Jobs and posts</h2>", PROSE[0], "Head of Sales wanted."),
    )
    assert diff.context is not UNSET
    contexts = dict(
        zip(
            (*diff.added, *(c.after for c in diff.changed)),
            (*diff.context.added, *(c.context for c in diff.changed)),
            strict=True,
        )
    )
    assert contexts["Head of Sales wanted."] == Context("Jobs and posts")
    assert contexts["Jobs and posts"] == Context("The shore")


def test_a_headings_link_to_itself_is_no_part_of_it_and_a_long_one_is_cut() -> None:
    _, diff = told(html("<h2>Ports ¶</h2>", PROSE[0]), html("<h2>Ports ¶</h2>", PROSE[0], PROSE[1]))
    assert diff.context is not UNSET and diff.context.added == (Context("Ports"),)
    long = f"<h2>{'Ports and ferries ' * 20}</h2>"
    _, diff = told(html(long, PROSE[0]), html(long, PROSE[0], PROSE[1]))
    assert diff.context is not UNSET
    assert len(diff.context.added[0].heading) <= MOST_CONTEXT and diff.context.added[0].heading.endswith("…")


def test_a_page_of_nothing_but_headings_is_cheap() -> None:
    start = time.process_time()
    texts = tuple(f"Heading {n}" for n in range(10_000))
    contexts = StateContexts(SettledState(texts, texts, (HEADING | TOP,) * len(texts)))
    assert contexts[1:][-1] == Context()
    contexts = StateContexts(SettledState(texts, texts, (HEADING | TOP, *(HEADING,) * (len(texts) - 1))))
    assert set(contexts[1:]) == {Context("Heading 0")}
    assert time.process_time() - start < 2.0


def test_changes_in_right_to_left_and_japanese_tables_have_positions() -> None:
    hebrew = "<h2>מחירים</h2><table><tr><th>תוכנית<th>מושבים</tr><tr><th>צוות<td>{} מושבים לכל אחד</tr></table>"
    look, diff = told(html(hebrew.format(10)), html(hebrew.format(12)))
    assert diff.changed[0].context == Context("מחירים", "צוות", "מושבים")
    assert "\u2069" in look.summary
    japanese = "<h2>料金表</h2><dl><dt>入場料<dd>大人は{}円です</dl>"
    look, diff = told(html(japanese.format(500)), html(japanese.format(700)))
    assert look.summary == "料金表 › 入場料: 大人は500円です → 大人は700円です"
    assert diff.changed[0].spans is not UNSET


def test_a_memory_grows_by_a_tenth_at_most() -> None:
    rows = [f"Plan number {n}|${7 * n} a month|{n}" for n in range(200)]
    memory = decode_memory(looks(html(plans(*rows))).memory)
    assert memory is not None
    assert 0 < len(memory.places) < len(memory.texts + memory.keys + memory.traits) / 10


def test_changes_in_a_chosen_part_have_positions() -> None:
    def look(seats: int, memory: bytes | None) -> PageLook:
        page = html(plans(f"Team|$9|{seats} seats or more"))
        return look_page(PageRequest(page, "text/html", URL, selector="h2, table", memory=memory))

    last = look(12, look(10, None).memory)
    assert last.diff is not None
    assert last.diff.changed[0].context == Context("Plans", "Team", "Seats")


SHORT = st.lists(st.sampled_from(["Fee: 10 euros", "Updated terms", "x", "Team: 12 seats", *PROSE]), max_size=8)


@settings(max_examples=60, deadline=None)
@given(SHORT, SHORT)
def test_the_text_now_has_every_text_that_the_difference_shows_of_it(before: list[str], after: list[str]) -> None:
    look = looks(html(*PROSE, *before), html(*PROSE, *after))
    if look.diff is not None:
        lines = look.content.splitlines()
        texts = (*look.diff.added, *(change.after for change in look.diff.changed))
        assert set(texts) <= set(lines)
        blocks = ("The shore", *PROSE, *after)
        assert lines == [text for text in blocks if text in set(lines)]


def test_the_cap_keeps_the_change_and_drops_unchanged_text() -> None:
    filler = [f"{n} {PROSE[n % 5]} {PROSE[(n + 1) % 5]}" for n in range(500)]
    look, diff = told(html(*filler, "The fee is 10 euros."), html(*filler, "The fee is 12 euros."))
    assert look.truncated
    assert len(look.content.encode()) <= CONTENT_CAP
    assert look.content.endswith("The fee is 12 euros.")
    assert diff.changed[0].after == "The fee is 12 euros."


def test_contexts_do_not_change_the_rebuilt_text() -> None:
    cells = [Context("P", "Team", "Seats"), Context("P", "Free", "Seats")]
    before, after = ["10", "3", "end"], ["3", "12", "5", "end"]
    diff, delta = compare(before, after, DiffContexts(cells, [cells[1], *cells]))
    assert apply(before, delta) == after
    assert (diff.added or diff.changed) and delta.stats.unchanged


PARAGRAPHS = st.lists(st.sampled_from(["a", "b", "c d e", "c d f", "10", "12"]), max_size=12)
WHERE = st.lists(
    st.sampled_from([Context(), Context("H"), Context("H", "r"), Context("H", "r", "c"), Context("", "", "c")]),
    max_size=14,
)


@given(PARAGRAPHS, PARAGRAPHS, WHERE, WHERE)
def test_the_delta_gives_the_new_text_for_paragraphs_at_any_position(
    before: list[str], after: list[str], was: list[Context], is_now: list[Context]
) -> None:
    diff, delta = compare(before, after, DiffContexts(was, is_now))
    assert apply(before, delta) == after
    if diff.context is not UNSET:
        assert (len(diff.context.added), len(diff.context.removed)) == (len(diff.added), len(diff.removed))
