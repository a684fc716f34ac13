from __future__ import annotations

from functools import partial

import trio

from storage.records.access import Person
from storage.sql.storage import Storage
from storage.sql.stores.people import MOST_MARKS
from tests.storage.contract.builders import NOW

ADA = Person(id="019db0a4-a060-7000-8000-000000000001", name="Ada", email="a@example.org", role="owner", created_at=NOW)


async def test_a_new_reader_has_read_nothing(storage: Storage) -> None:
    assert not (await storage.read_marks.of("")).has(1)


async def test_marks_are_exceptions_on_both_sides_of_the_position(storage: Storage) -> None:
    marks = storage.read_marks
    await marks.mark_all("", 10)
    await marks.mark("", {12, 13}, read=True)
    await marks.mark("", {10, 13}, read=False)
    read = await marks.of("")
    assert [seq for seq in range(9, 14) if read.has(seq)] == [9, 12]
    await marks.mark_all("", 12)
    read = await marks.of("")
    assert [seq for seq in range(9, 15) if read.has(seq)] == [9, 10, 11, 12] and read.marks == {13: False}


async def test_an_older_position_takes_nothing_back(storage: Storage) -> None:
    await storage.read_marks.mark_all("", 20)
    await storage.read_marks.mark_all("", 10)
    assert (await storage.read_marks.of("")).upto == 20


async def test_devices_that_mark_at_once_add_to_each_other(storage: Storage) -> None:
    async with trio.open_nursery() as nursery:
        for seq in range(1, 30):
            nursery.start_soon(partial(storage.read_marks.mark, "", {seq}, read=True))
        nursery.start_soon(storage.read_marks.mark_all, "", 5)
    read = await storage.read_marks.of("")
    assert all(read.has(seq) for seq in range(30)) and not read.has(30)


async def test_marks_are_bounded_and_nothing_gets_unread(storage: Storage) -> None:
    await storage.read_marks.mark("", {5}, read=False)
    await storage.read_marks.mark("", range(10, 11 + MOST_MARKS), read=True)
    read = await storage.read_marks.of("")
    assert read.upto == 10 and len(read.marks) == MOST_MARKS and read.has(10 + MOST_MARKS)


async def test_each_person_has_their_own_and_loses_them_with_the_account(storage: Storage) -> None:
    await storage.accounts.add(ADA)
    await storage.read_marks.mark_all(ADA.id, 10)
    await storage.read_marks.mark(ADA.id, {11}, read=True)
    assert not (await storage.read_marks.of("")).has(5)
    await storage.accounts.remove(ADA.id, password_set=True)
    read = await storage.read_marks.of(ADA.id)
    assert not read.has(5) and not read.has(11)
