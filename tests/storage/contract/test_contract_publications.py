from __future__ import annotations

import pytest
from msgspec.structs import replace

from storage.records.identity import Millis, Seq
from storage.records.publication import Publication, Retraction, hash_of
from storage.sql.storage import Storage
from storage.sql.stores.publications import Published
from tests.storage.contract.builders import NOW, a_publication
from tests.storage.contract.engines import Engine

WHOLE = a_publication(
    "whole", source_ids=("s1", "s2"), tags=("label:prices",), channel="feed", alert_ids=("a1",), created_at=NOW + 1
)


def a_retraction(place: int) -> Retraction:
    return Retraction(Seq(place), f"event {place}", Millis(NOW + place))


async def test_a_publication_comes_back_as_it_was_after_a_restart(engine: Engine) -> None:
    storage = await engine.start()
    for publication in (WHOLE, a_publication()):
        await storage.publications.put(publication)
    await storage.aclose()
    again = await engine.start()
    assert list(await again.publications.all()) == [a_publication(), WHOLE], "oldest first"
    assert await again.publications.get("whole") == WHOLE
    assert await again.publications.get("none") is None
    await again.aclose()


async def test_a_reader_is_let_in_by_the_hash_of_a_token(storage: Storage) -> None:
    await storage.publications.put(WHOLE)
    assert WHOLE.token is not None
    assert await storage.publications.by_hash(hash_of(WHOLE.token)) == Published(replace(WHOLE, token=None), 0)
    assert await storage.publications.by_hash(WHOLE.token) is None
    assert WHOLE.token not in repr(WHOLE) and WHOLE.token_hash not in repr(WHOLE)


async def test_another_address_ends_the_old_one(storage: Storage) -> None:
    await storage.publications.put(WHOLE)
    changed = await storage.publications.edit("whole", lambda it: replace(it, token="new", token_hash=hash_of("new")))
    assert changed is not None and changed.token == "new"
    assert await storage.publications.by_hash(WHOLE.token_hash) is None
    assert await storage.publications.by_hash(hash_of("new")) is not None
    assert await storage.publications.edit("none", lambda it: it) is None


async def test_an_edit_that_is_refused_changes_nothing(storage: Storage) -> None:
    def refuse(_: Publication) -> Publication:
        raise ValueError

    await storage.publications.put(WHOLE)
    with pytest.raises(ValueError):
        await storage.publications.edit("whole", refuse)
    assert await storage.publications.get("whole") == WHOLE


async def test_a_publication_is_deleted_once_and_only_if_the_check_lets_it(storage: Storage) -> None:
    def refuse(publication: Publication) -> None:
        assert publication == WHOLE
        raise ValueError

    await storage.publications.put(WHOLE)
    with pytest.raises(ValueError):
        await storage.publications.delete("whole", refuse)
    assert await storage.publications.delete("whole")
    assert not await storage.publications.delete("whole")
    assert await storage.publications.by_hash(WHOLE.token_hash) is None


async def test_retractions_are_counted_and_read_newest_first(storage: Storage) -> None:
    async def counted() -> int:
        published = await storage.publications.by_hash(WHOLE.token_hash)
        assert published is not None
        return published.retractions

    await storage.publications.put(WHOLE)
    for place in (3, 1, 2, 2):
        await storage.publications.retract(a_retraction(place))
    assert await counted() == 3, "what is retracted already changes nothing"
    all_of_them = await storage.publications.retracted(Seq(0), Seq(9), 10)
    assert list(all_of_them) == [a_retraction(3), a_retraction(2), a_retraction(1)]
    assert list(await storage.publications.retracted(Seq(1), Seq(3), 10)) == [a_retraction(2)]
    assert list(await storage.publications.retracted(Seq(0), Seq(9), 1)) == [a_retraction(3)]
    for place in (2, 7):
        await storage.publications.restore(Seq(place))
    assert await counted() == 4, "and what is not retracted can't be restored"
    assert len(await storage.publications.retracted(Seq(0), Seq(9), 10)) == 2


async def test_retractions_of_pruned_events_are_deleted_a_few_at_a_time(storage: Storage) -> None:
    for place in range(1, 6):
        await storage.publications.retract(a_retraction(place))
    assert await storage.publications.forget_retractions(Seq(4), 3) == 3
    assert await storage.publications.forget_retractions(Seq(4), 3) == 1
    assert await storage.publications.forget_retractions(Seq(4), 3) == 0
    assert list(await storage.publications.retracted(Seq(0), Seq(9), 10)) == [a_retraction(5)]
