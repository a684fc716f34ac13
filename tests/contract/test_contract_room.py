from __future__ import annotations

from storage.interface import Storage
from storage.records.cursor import EVERYTHING
from storage.records.identity import START, Seq
from tests.contract.test_contract_log import filled


async def test_what_was_deleted_weighs_nothing(storage: Storage) -> None:
    await filled(storage, 600)
    before = (await storage.log.room()).used
    assert before > 0
    await storage.log.retain(Seq(1 << 62), 500, storage.lease)
    assert (await storage.log.room()).used < before


async def test_what_is_given_back_was_free(storage: Storage) -> None:
    await filled(storage, 600)
    await storage.log.retain(Seq(1 << 62), 500, storage.lease)
    before = await storage.log.room()
    gone = await storage.log.give_back(16 << 10, storage.lease)
    after = await storage.log.room()
    assert gone in (0, 16 << 10)
    assert (after.used, after.whole) == (before.used, before.whole - gone)
    assert await storage.log.give_back(1 << 30, storage.lease) == after.free
    assert len((await storage.log.read(START, 500, EVERYTHING)).events) == 100
