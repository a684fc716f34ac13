from __future__ import annotations

from msgspec.structs import replace

from extras.publish.hub import Progress, Subscriber, Subscriptions
from storage.records.identity import Millis, Seq
from storage.records.publication import hash_of
from storage.sql.storage import Storage
from tests.storage.contract.builders import NOW, a_publication, a_subscription
from tests.storage.contract.engines import Engine


async def test_a_subscription_comes_back_with_its_secret_and_progress_after_a_restart(engine: Engine) -> None:
    storage = await engine.start()
    await storage.publications.put(a_publication())
    one, two = a_subscription("s1"), a_subscription("s2", callback="https://other.test/", secret=None)
    assert await Subscriptions(storage).put(one, Seq(7)) == Subscriber(one, Progress("s1", Seq(7)))
    assert await Subscriptions(storage).put(two, Seq(8)) is not None
    step = Progress("s2", Seq(9), 3, Millis(NOW + 5), "HTTP 503")
    await Subscriptions(storage).advance([step, Progress("gone", Seq(1))])
    await storage.aclose()
    again = await engine.start()
    expected = [Subscriber(one, Progress("s1", Seq(7))), Subscriber(two, step)]
    assert list(await Subscriptions(again).all()) == expected
    assert await Subscriptions(again).count("one") == 2 and await Subscriptions(again).count("two") == 0
    await again.aclose()


async def test_the_same_callback_to_the_same_feed_renews_and_keeps_its_progress(storage: Storage) -> None:
    await storage.publications.put(a_publication())
    await Subscriptions(storage).put(a_subscription("s1"), Seq(7))
    await Subscriptions(storage).advance([Progress("s1", Seq(9), 2, NOW, "slow")])
    later = a_subscription("s2", expires_at=Millis(NOW + 9_000), created_at=Millis(NOW + 5), secret="other")
    renewed = await Subscriptions(storage).put(later, Seq(20))
    kept = replace(later, id="s1", created_at=NOW)
    assert renewed == Subscriber(kept, Progress("s1", Seq(9), 2, NOW, "slow"))
    assert list(await Subscriptions(storage).all()) == [renewed]
    for other in (replace(later, ending="rss"), replace(later, callback="https://b.test/")):
        assert await Subscriptions(storage).put(replace(other, id=other.ending + other.callback), Seq(1)) is not None
    assert len(await Subscriptions(storage).all()) == 3


async def test_subscriptions_go_with_their_publication_and_with_its_address(storage: Storage) -> None:
    await storage.publications.put(a_publication())
    await storage.publications.put(a_publication("two"))
    other = a_subscription("s2", publication="two", token_hash=a_publication("two").token_hash)
    for one in (a_subscription("s1"), other):
        await Subscriptions(storage).put(one, Seq(1))
    await storage.publications.edit("one", lambda it: replace(it, title="other"))
    assert len(await Subscriptions(storage).all()) == 2, "another title is the same feed"
    await storage.publications.edit("one", lambda it: replace(it, token="new", token_hash=hash_of("new")))
    assert [each.progress.id for each in await Subscriptions(storage).all()] == ["s2"]
    assert await Subscriptions(storage).put(a_subscription("s3"), Seq(1)) is None, "the address is gone"
    await storage.publications.delete("two")
    assert list(await Subscriptions(storage).all()) == []


async def test_subscriptions_are_ended_by_their_ids(storage: Storage) -> None:
    await storage.publications.put(a_publication())
    for number in range(4):
        await Subscriptions(storage).put(a_subscription(f"s{number}", callback=f"https://{number}.test/"), Seq(1))
    await Subscriptions(storage).end(["s1", "s3", "none"])
    await Subscriptions(storage).end([])
    assert [each.progress.id for each in await Subscriptions(storage).all()] == ["s0", "s2"]


def test_a_shown_subscription_has_neither_callback_nor_secret() -> None:
    shown = repr(Subscriber(a_subscription("s1"), Progress("s1", Seq(1))))
    assert "secret" not in shown and "callback" not in shown and "s1" in shown
