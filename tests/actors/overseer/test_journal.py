from __future__ import annotations

from actors.overseer.overseer import Journal, Ring


def test_a_ring_keeps_the_newest_and_numbers_go_on() -> None:
    ring: Ring[str] = Ring(3)
    assert ring.after(0) == []
    for letter in "abcde":
        ring.add(letter)
    assert ring.after(0) == [(3, "c"), (4, "d"), (5, "e")]
    assert ring.after(3) == [(4, "d"), (5, "e")]
    assert ring.after(5) == ring.after(99) == []
    assert (ring.last, len(ring)) == (5, 3)


def test_lines_of_an_actor_are_its_own_and_those_below_it() -> None:
    journal = Journal()
    for actor in ("sources/1", "sources/2", "sources", "log", "sources-old", ""):
        journal.lines.add({"event": "x", "actor": actor})
    journal.lines.add({"event": "without"})

    def actors(*asked: object) -> list[int]:
        return [number for number, _ in journal.lines_of(*asked)]  # type: ignore[arg-type]  # as given

    assert actors("sources", 0, 10) == [1, 2, 3]
    assert actors("sources", 1, 10) == [2, 3]
    assert actors("sources", 0, 1) == [3]
    assert actors("sources/2", 0, 10) == [2]
    assert actors("", 0, 10) == [1, 2, 3, 4, 5, 6, 7]
