from __future__ import annotations

import random

from api.frames import FRAME_LIMIT
from api.outbox import Outbox


def test_what_is_taken_is_what_was_put_in_order_whatever_the_pieces() -> None:
    for seed in range(200):
        chance = random.Random(seed)
        outbox, put, taken = Outbox(), b"", b""
        while len(put) < 2_000 or len(outbox):
            if len(put) < 2_000 and chance.random() < 0.5:
                data = chance.randbytes(chance.choice((0, 1, 7, 300)))
                outbox.put(data)
                put += data
            else:
                taken += outbox.take(chance.choice((0, 1, 5, 100, 1_000)))
            assert len(outbox) == len(put) - len(taken)
        assert taken == put


def test_x21_s4_a_body_that_many_streams_wait_for_is_there_once() -> None:
    body = bytes(10 * FRAME_LIMIT)
    boxes = [Outbox() for _ in range(100)]
    for box in boxes:
        box.put(body)
        box.take(FRAME_LIMIT)
    assert all(piece.obj is body for box in boxes for piece in box._pieces)


def test_what_is_dropped_is_gone() -> None:
    outbox = Outbox()
    outbox.put(b"abc")
    outbox.clear()
    assert len(outbox) == 0 and outbox.take(5) == b""
