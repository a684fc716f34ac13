from __future__ import annotations

from extras.webpush.key import PushKey, add_first_key, push_key
from storage.records.access import PublicKey, SigningKey
from storage.records.identity import Millis
from storage.sql.storage import Storage
from tests.storage.contract.builders import NOW, a_signing_key, an_api_key
from tests.storage.contract.engines import Engine


async def test_a_key_is_found_by_its_hash_only(storage: Storage) -> None:
    key = an_api_key("one", scopes=("sources:read", "stream:read"), rate_per_minute=5, burst=2)
    await storage.keys.add(key)
    assert await storage.keys.by_hash(key.sha256) == key
    assert await storage.keys.by_hash("another") is None


async def test_a_revoked_key_is_refused_by_the_very_next_call(storage: Storage) -> None:
    key, other = an_api_key("one"), an_api_key("two")
    await storage.keys.add(key)
    await storage.keys.add(other)
    assert await storage.keys.revoke("one")
    assert await storage.keys.by_hash(key.sha256) is None
    assert await storage.keys.by_hash(other.sha256) == other
    assert not await storage.keys.revoke("one")


async def test_keys_are_listed_oldest_first(storage: Storage) -> None:
    for name, age in (("b", 2), ("a", 2), ("c", 1)):
        await storage.keys.add(an_api_key(name, NOW + age))
    assert [key.id for key in await storage.keys.all()] == ["c", "a", "b"]


async def test_last_use_is_remembered(engine: Engine) -> None:
    storage = await engine.start()
    await storage.keys.add(an_api_key("one"))
    await storage.keys.touch({"one": Millis(NOW + 7), "unknown": NOW})
    await storage.aclose()
    again = await engine.start()
    (key,) = await again.keys.all()
    assert key.last_used_at == NOW + 7
    found = await again.keys.by_hash(key.sha256)
    assert found == key
    await again.aclose()


async def test_a_new_signing_key_retires_the_others_and_they_stay(storage: Storage) -> None:
    assert list(await storage.keys.signing()) == []
    for age, name in enumerate(("first", "second", "third")):
        await storage.keys.add_signing(a_signing_key(name, NOW + age))
    assert [(key.key_id, key.state) for key in await storage.keys.signing()] == [
        ("third", "active"),
        ("second", "retired"),
        ("first", "retired"),
    ]
    assert (await storage.keys.signing())[0] == SigningKey("third", b"s" * 32, Millis(NOW + 2))


async def test_the_active_signing_key_is_named_by_its_id(storage: Storage) -> None:
    assert await storage.keys.active_signing() is None
    for name in ("first", "second"):
        await storage.keys.add_signing(a_signing_key(name))
        assert await storage.keys.active_signing() == name


async def test_public_keys_of_other_instances_stay_as_first_stored(engine: Engine) -> None:
    storage = await engine.start()
    await storage.keys.add_public([PublicKey("b", "x", Millis(NOW + 1)), PublicKey("a", "x", NOW)])
    await storage.keys.add_public([PublicKey("b", "another", NOW), PublicKey("c", "x", Millis(NOW + 2))])
    await storage.aclose()
    again = await engine.start()
    found = [(key.key_id, key.x) for key in await again.keys.public()]
    assert found == [("a", "x"), ("b", "x"), ("c", "x")]
    assert list(await again.keys.signing()) == []
    await again.keys.add_signing(a_signing_key("b"))
    assert [key.key_id for key in await again.keys.public()] == ["a", "c"]
    await again.aclose()


async def test_the_first_signing_key_is_made_once(storage: Storage) -> None:
    await storage.keys.add_first_signing(a_signing_key("first"))
    await storage.keys.add_first_signing(a_signing_key("second"))
    assert [(key.key_id, key.state) for key in await storage.keys.signing()] == [("first", "active")]
    assert [key.key_id for key in await storage.keys.public()] == []
    await storage.keys.add_signing(a_signing_key("third"))
    assert [key.key_id for key in await storage.keys.signing()] == ["third", "first"]


async def test_the_key_of_pushes_is_made_once_and_is_still_there_after_a_restart(engine: Engine) -> None:
    storage = await engine.start()
    assert await push_key(storage) is None
    first = PushKey("Bfirst", b"p" * 32, NOW)
    await add_first_key(storage, first)
    await add_first_key(storage, PushKey("Bsecond", b"q" * 32, Millis(NOW + 1)))
    assert await push_key(storage) == first and "pppp" not in repr(first)
    await storage.aclose()
    again = await engine.start()
    assert await push_key(again) == first
    await again.aclose()
