from __future__ import annotations

from sanderling_client.receiver import report
from sanderling_client.receiver.report import Ledger


def test_a_repeated_id_is_counted_and_its_body_compared() -> None:
    book = Ledger()
    assert book.take("a", b"1").times == 1
    again = book.take("a", b"1")
    assert (again.number, again.times, again.first, again.altered, again.late) == (2, 2, 1, False, False)
    assert book.take("a", b"2").altered


def test_an_older_id_after_a_newer_one_is_late_once() -> None:
    book = Ledger()
    assert [book.take(id, b"").late for id in ("b", "c", "a", "d", "a")] == [False, False, True, False, False]


def test_deliveries_without_an_id_are_no_duplicates_of_each_other() -> None:
    book = Ledger()
    assert [book.take("", b"").times for _ in range(3)] == [1, 1, 1]


def test_the_ledger_is_bounded() -> None:
    book = Ledger()
    for number in range(report.REMEMBERED + 1):
        book.take(str(number), b"")
    assert book.take("0", b"").times == 1
    assert book.take(str(report.REMEMBERED), b"").times == 2
