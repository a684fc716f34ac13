"""API keys: 256 bits, shown once, stored as a hash."""

from __future__ import annotations

import hashlib
import re
from itertools import count

import pytest

from api.keys import BURST, RATE
from sanderling.client.lines import piped
from sanderling.commands.keys import KEY_LIST
from sanderling.exits import CommandFailed, Exit
from sanderling.keyring import find_key, key_document, make_key
from storage.records.access import ApiKey
from storage.records.identity import Millis, millis_of, seq_of

NOW = Millis(1_800_000_000_000)


def entropy(size: int) -> bytes:
    return bytes(range(1, size + 1))


def a_key(name: str = "reader", number: int = 0, *scopes: str) -> tuple[str, ApiKey]:
    numbers = count(number)
    return make_key(name, scopes or ("stream:read",), entropy=lambda n: bytes([next(numbers)] * n), now=NOW)


def test_a_key_is_a_prefix_and_256_bits() -> None:
    plaintext, record = make_key("reader", ["stream:read"], entropy=entropy, now=NOW)
    assert re.fullmatch(r"svc_[A-Za-z0-9_-]{43}", plaintext)
    assert record.prefix == plaintext[:12]


def test_only_the_hash_and_the_beginning_are_in_the_record() -> None:
    plaintext, record = make_key("reader", ["stream:read"], entropy=entropy, now=NOW)
    assert record.sha256 == hashlib.sha256(plaintext.encode()).hexdigest()
    assert plaintext not in repr(record)


def test_the_record_has_an_id_of_its_moment() -> None:
    _, record = make_key("reader", ["stream:read"], entropy=entropy, now=NOW)
    assert millis_of(seq_of(record.id)) == NOW


@pytest.mark.parametrize("scope", ["sources:delete", "", "stream:read:", "*"])
def test_an_unknown_scope_is_a_usage_error_that_lists_them(scope: str) -> None:
    with pytest.raises(CommandFailed, match="sources:write") as caught:
        make_key("reader", [scope], entropy=entropy, now=NOW)
    assert caught.value.code == Exit.USAGE


def test_a_channel_scope_and_repeated_scopes_are_fine() -> None:
    _, record = make_key("r", ["stream:read:feed", "stream:read:feed"], entropy=entropy, now=NOW)
    assert record.scopes == ("stream:read:feed",)


@pytest.mark.parametrize("name", [" ", "two\nlines", "\x1b[31mred", "x" * 101])
def test_a_name_that_could_not_be_shown_is_refused(name: str) -> None:
    with pytest.raises(CommandFailed):
        make_key(name, ["stream:read"], entropy=entropy, now=NOW)


@pytest.mark.parametrize(
    ("scope", "says"),
    [
        ("steam:read", "Did you mean stream:read?"),
        ("source:write", "Did you mean sources:write?"),
        ("stream:read:Pricing", "a channel's name is"),
        ("stream:read:a b", "a channel's name is"),
        ("stream:read:pricing\n", "a channel's name is"),
    ],
)
def test_a_wrong_scope_is_refused_with_a_suggestion(scope: str, says: str) -> None:
    with pytest.raises(CommandFailed, match=re.escape(says)):
        make_key("reader", [scope], entropy=entropy, now=NOW)


def test_a_key_has_a_rate_of_its_own() -> None:
    _, record = make_key("reader", ["stream:read"], entropy=entropy, now=NOW, rate=60, burst=5)
    assert (record.rate_per_minute, record.burst) == (60, 5)
    _, record = make_key("reader", ["stream:read"], entropy=entropy, now=NOW)
    assert (record.rate_per_minute, record.burst) == (RATE, BURST) == (600, 100)


@pytest.mark.parametrize("limits", [{"rate": 0}, {"burst": 0}, {"rate": -5}, {"burst": 10**9}])
def test_a_limit_out_of_bounds_is_refused(limits: dict[str, int]) -> None:
    with pytest.raises(CommandFailed, match="must be from 1"):
        make_key("reader", ["stream:read"], entropy=entropy, now=NOW, **limits)


def test_json_output_has_everything_but_the_hash() -> None:
    plaintext, record = make_key("reader", ["stream:read"], entropy=entropy, now=NOW)
    told = str(key_document(record))
    assert record.id in told and record.prefix in told
    assert record.sha256 not in told and plaintext not in told


def test_a_key_is_found_by_id_name_beginning_or_whole() -> None:
    (plaintext, first), (_, second) = a_key("one", 0), a_key("two", 100)
    assert first.id[-6:] != second.id[-6:]
    for word in (first.id, first.id[-6:], "one", first.prefix, first.prefix + "...", plaintext):
        assert find_key([first, second], word) is first


def test_a_key_that_is_missing_or_ambiguous_is_not_guessed() -> None:
    (_, first), (_, second) = a_key("same", 0), a_key("same", 100)
    with pytest.raises(CommandFailed, match="No key"):
        find_key([first], "other")
    with pytest.raises(CommandFailed, match="2 keys"):
        find_key([first, second], "same")


def test_the_list_shows_no_more_than_the_beginning() -> None:
    plaintext, record = a_key("one")
    line = piped(KEY_LIST.row(key_document(record)))
    assert record.prefix in line and "never" in line and plaintext[:13] not in line
