from __future__ import annotations

import itertools
import random
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from actors.recorder.actor import Identifiers
from storage.records.identity import Millis, Seq, millis_of, seq_of

moments = st.lists(st.integers(0, 2**47), min_size=1, max_size=60)


def identifiers(clock: list[int]) -> Identifiers:
    """Return Identifiers on a clock with these moments in turn; the last repeats."""
    return Identifiers(lambda: Millis(clock.pop(0) if len(clock) > 1 else clock[0]), random.Random(1).getrandbits)


@given(moments)
def test_ids_rise_strictly_however_the_clock_jumps(clock: list[int]) -> None:
    mint = identifiers(clock)
    minted = [mint.mint() for _ in range(100)]
    assert all(a < b for a, b in itertools.pairwise(minted))
    assert all(a[1] < b[1] for a, b in itertools.pairwise(minted))


@given(moments)
def test_an_id_names_its_own_position(clock: list[int]) -> None:
    seq, text = identifiers(clock).mint()
    assert seq_of(text) == seq
    assert (UUID(text).version, UUID(text).variant) == (7, "specified in RFC 4122")


def test_no_id_is_made_at_or_below_the_floor() -> None:
    mint = identifiers([5])
    mint.raise_floor(Seq(10_000_000))
    assert mint.mint()[0] == 10_000_001


def test_a_full_counter_borrows_the_next_millisecond() -> None:
    mint = identifiers([5])
    mint.raise_floor(Seq((6 << 15) - 1))
    seq, _ = mint.mint()
    assert (millis_of(seq), seq & 0x7FFF) == (6, 0)


def test_the_time_of_an_id_is_the_clock_while_the_clock_is_well() -> None:
    assert millis_of(identifiers([1_780_000_000_123]).mint()[0]) == 1_780_000_000_123
