from __future__ import annotations

import pytest

from api.ratelimit import ConnectionLimit, LimitReached

ONE, OTHER = "192.0.2.1", "192.0.2.2"


def test_places_are_bounded_in_all_and_for_one_address() -> None:
    places = ConnectionLimit(3, 2, ())
    taken = [places.take(ONE), places.take(ONE)]
    with pytest.raises(LimitReached, match="2 connections from your address"):
        places.take(ONE)
    places.take(OTHER)
    with pytest.raises(LimitReached, match="Too many connections are open"):
        places.take("192.0.2.3")
    places.free(taken[0])
    assert places.take(ONE) == ONE


def test_a_refused_address_takes_none_of_the_places() -> None:
    places = ConnectionLimit(2, 1, ())
    places.take(ONE)
    for _ in range(5):
        with pytest.raises(LimitReached):
            places.take(ONE)
    places.take(OTHER)
    assert "2 of 2 taken" in repr(places)
