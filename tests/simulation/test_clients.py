"""A simulated user's report of a service that does not answer."""

from __future__ import annotations

import httpcore
from trio.testing import MockClock

from tests.simulation.clients import User
from tests.simulation.trace import Trace


class Deaf:
    """Answers 503 twice, refuses connections for a while, and then answers, if ever, with a document."""

    def __init__(self, document: bytes | None) -> None:
        self.document, self.asked = document, 0

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        self.asked += 1
        if self.asked <= 2:
            return 503, b"stopping"
        if self.document is None or self.asked <= 5:
            raise httpcore.ConnectError("refused")
        return 200, self.document


async def test_a_document_is_requested_until_it_arrives(autojump_clock: MockClock) -> None:
    user = User(Deaf(b'{"keys": []}'), Trace())  # type: ignore[arg-type]  # it only asks
    assert await user.learn("/keys") == {"keys": []}
    assert user.unheard == []


async def test_a_missing_document_is_explained(autojump_clock: MockClock) -> None:
    trace = Trace()
    user = User(Deaf(None), trace)  # type: ignore[arg-type]  # it only asks
    assert await user.learn("/keys") is None
    assert user.unheard == ["GET /keys is not answered: 2 times 503 b'stopping', 38 times ConnectError: refused"]
    assert trace.counts == {"asks in vain": 40}
