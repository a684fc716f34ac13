from __future__ import annotations

from typing import get_args

import msgspec

from actors.signatures import (
    MOST_BYTES,
    MOST_URL,
    LoggedEvents,
    Signer,
    jwks,
    new_signing_key,
    receipt_of,
    summarise,
)
from sanderling_client.receiver.receipt import WHYS, coverage_explained, is_coverage
from sanderling_client.verify import check_event, decode, key_set
from storage.records.coverage import MOST_UNKNOWN, Coverage, Gap, UnknownPeriod, Why
from storage.records.identity import Millis

DAY = 86_400_000
START = Millis(20_000 * DAY)
KEY = new_signing_key(bytes(32), Millis(0))
KEYS = key_set(jwks([KEY]))
LARGE = 999_999_999


def known(*unknown: UnknownPeriod, **changes: object) -> Coverage:
    gap = Gap(START, Millis(START + 720_000))
    looks = (1_190, 2, 12, 3, 0, 0, 0, 0)
    found = Coverage(START, Millis(START + 7 * DAY), looks, 14, START, START, gap, unknown, 0)
    return found._replace(**changes)  # type: ignore[arg-type]


def signed(found: Coverage, url: str = "https://shop.example/") -> bytes:
    receipt = receipt_of("01a215ec-6a1d-7000-8713-466f4b404c0d", url, found, LoggedEvents("x" * 36, "y" * 36, START))
    return Signer(KEY).sign_document(msgspec.to_builtins(receipt), START)


def test_the_largest_receipt_is_small() -> None:
    at = Millis(253_402_300_000_000)
    unknown = [UnknownPeriod(Millis(n), Millis(n + 1), why) for n, why in enumerate(("not_stored", "no_record") * 9)]
    gap = Gap(Millis(0), at)
    largest = known(*unknown[:MOST_UNKNOWN], looks=(LARGE,) * 8, bodies=LARGE, gap=gap, resting=at, end=at)
    assert len(signed(largest, "https://e.example/" + '"' * (MOST_URL - 18))) <= MOST_BYTES
    assert len(signed(largest, "https://e.example/" + "u" * (MOST_URL - 18))) <= MOST_BYTES


def test_it_verifies_as_an_event_does() -> None:
    document = decode(signed(known()))
    assert is_coverage(document)
    assert check_event(document, KEYS).valid
    assert not check_event({**document, "answered": 1_205}, KEYS).valid


def test_a_receipt_has_a_summary_sentence() -> None:
    assert str(summarise(known())) == (
        "1,204 checks succeeded, 3 failed, the longest pause was 12 min; nothing is unknown."
    )
    hole = UnknownPeriod(START, Millis(START + 1_860_000), "crash")
    assert str(summarise(known(hole, looks=(1, 0, 0, 0, 0, 0, 0, 0)))) == (
        "1 check succeeded, the longest pause was 12 min; one time is unknown, 31 min in all "
        "(the service ended without a word)."
    )
    nothing = UnknownPeriod(START, Millis(START + 7 * DAY), "retention")
    assert str(summarise(known(nothing, gap=None))) == "Nothing is known of this time: the record is kept no longer."


def test_a_receipt_states_its_proof_and_the_limits() -> None:
    quiet = known(UnknownPeriod(START, Millis(START + 1000), "clock"), looks=(5, 0, 0, 0, 0, 0, 0, 0))
    lines = list(coverage_explained(decode(signed(quiet))))
    assert lines[0].startswith("https://shop.example/, from 2024-10-04T00:00:00.000Z to ")
    assert "unknown from 2024-10-04T00:00:00.000Z to 2024-10-04T00:00:01.000Z: the clock was set" in lines
    assert "No recorded check found a change to report." in lines
    assert any("does not prove that the checks happened" in line for line in lines)
    assert "No recorded check found a change to report." not in list(coverage_explained(decode(signed(known()))))


def test_a_document_that_is_no_receipt_is_refused() -> None:
    assert not is_coverage({"type": "coverage"})
    assert not is_coverage({"id": "x", "signature": "y"})
    assert list(coverage_explained({"type": "coverage", "unknown": [3, {}], "outcomes": 4}))


def test_the_client_has_words_for_each_reason() -> None:
    assert set(WHYS) == set(get_args(Why))
