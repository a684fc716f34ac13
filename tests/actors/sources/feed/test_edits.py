from __future__ import annotations

from actors.sources.feed.seen import EntryFingerprint, compare
from tests.support.build import NOW


def entry(name: str, *lines: str) -> EntryFingerprint:
    text = "".join(lines).encode().ljust(4)[-4:]
    prints = name.encode().ljust(4)[:4] + text + b"".join(line.encode().ljust(3)[:3] for line in lines)
    return EntryFingerprint(name, "0" * 16, f"/{name}", prints=prints, date=NOW)


def told(*documents: list[EntryFingerprint]) -> list[tuple[int, ...]]:
    """Return the edits reported for each document after the first."""
    memory, edits = b"", []
    for number, document in enumerate(documents, 1):
        found = compare(memory, document, number=number)
        memory = memory if found.memory is None else found.memory
        edits.append(found.updated)
    return edits[1:]


def all_with(line: str, names: str = "abcde") -> list[EntryFingerprint]:
    return [entry(name, f"t{name}", line) for name in names]


def test_a_line_that_changes_in_most_entries_is_no_edit_and_an_edit_next_to_it_is() -> None:
    changed = all_with("Q")
    assert told(all_with("P"), changed) == [()]
    changed[2] = entry("c", "new", "Q")
    assert told(all_with("P"), changed) == [(2,)]
    assert told(all_with("P"), [*all_with("Q", "a"), *all_with("P", "bcde")]) == [(0,)]


def test_a_line_known_as_boilerplate_stays_boilerplate_in_one_entry() -> None:
    late = [entry("n", "tn", "P"), *all_with("P")]
    back = [entry("n", "tn", "Q"), *all_with("P")]
    assert told(all_with("P"), all_with("Q"), late, back) == [(), (), ()]


def test_two_texts_that_take_turns_are_reported_once_until_one_stays() -> None:
    a, b = [entry("x", "one")], [entry("x", "two")]
    assert told(a, b, a, b, a, b) == [(0,), (), (), (), ()]
    assert told(a, b, a, a, a, a, a) == [(0,), (), (), (), (), (0,)]


def test_a_text_that_goes_back_after_a_long_stay_is_an_edit() -> None:
    a, b = [entry("x", "one")], [entry("x", "two")]
    assert told(a, b, b, b, b, a) == [(0,), (), (), (), (0,)]


def test_a_line_that_is_always_another_one_is_quiet_until_it_stays() -> None:
    looks = [[entry("x", "stays", line)] for line in "abcdefff"]
    assert told(*looks, looks[-1], looks[-1]) == [(0,), (0,), (0,), (), (), (), (), (), (0,)]


def test_an_edit_of_nearly_all_entries_at_once_is_reported_when_it_stays() -> None:
    a = [entry(name, f"t{name}") for name in "abcdef"]
    b = [entry(name, f"s{name}") for name in "abcdef"]
    everything = (0, 1, 2, 3, 4, 5)
    assert told(a, b, a, b, a) == [(), (), (), ()]
    assert told(a, b, b, b, b, b, b) == [(), (), (), (), everything, ()]
