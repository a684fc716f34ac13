"""Heads of HTTP requests."""

from __future__ import annotations

from collections.abc import Sequence

import h11

from api.server.http1 import HEAD_LIMIT, LINE_LIMIT, StrictConnection
from bench.fuzz.chance import Chance

REQUESTS: Sequence[bytes] = (
    b"GET /v1/stream?tag=a HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 019db0a4\r\nAccept: text/event-stream\r\n\r\n",
    b"POST /v1/sources HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n"
    b'{"url": "a"}GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    b"POST /v1/alerts HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n",
    b"GET / HTTP/1.0\r\nConnection: keep-alive\r\nUpgrade: h2c\r\nHTTP2-Settings: AAAA\r\n\r\n",
    b"PUT /v1/x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
)
PARTS: Sequence[bytes] = (
    b"\r\n",
    b"\n",
    b"\r",
    b"\r\n ",
    b"\r\n\t",
    b"Content-Length: 5\r\n",
    b"Content-Length: 5, 5\r\n",
    b"content-length:+5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Host: y\r\n",
    b" HTTP/1.1",
    b"HTTP/2.0",
    b";a=b",
    b"0\r\n\r\n",
    b"ffffffff\r\n",
    b"GET http://y/ HTTP/1.1\r\n",
    b"X: " + b"a" * 9000 + b"\r\n",
    b"A:\x0b\r\n",
    b": x\r\n",
    b"\x00",
)


def a_request(chance: Chance) -> list[bytes]:
    raw = chance.choice(REQUESTS)
    if chance.often(0.6):
        for _ in range(chance.choice((1, 1, 2, 4))):
            ends = [at for at in range(len(raw)) if raw[at : at + 2] == b"\r\n"] or [0]
            at = chance.choice((chance.choice(ends), chance.choice(ends) + 2, chance.randrange(len(raw) + 1)))
            raw = raw[:at] + chance.choice(PARTS) + raw[at:]
    if chance.often(0.4):
        raw = chance.bent(raw, REQUESTS)
    return chance.cut(raw)


def http1(case: list[bytes]) -> None:
    """However it is cut, it has one meaning; a lenient parser agrees on everything accepted."""
    ours = _heard(StrictConnection(h11.SERVER, max_incomplete_event_size=LINE_LIMIT + HEAD_LIMIT), case)
    whole = _heard(StrictConnection(h11.SERVER, max_incomplete_event_size=LINE_LIMIT + HEAD_LIMIT), [b"".join(case)])
    assert ours == whole
    theirs = _heard(h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20), [b"".join(case)])
    said = [each for each in ours if each != "refused"]
    assert len(said) <= len(theirs) or theirs[-1:] == ["refused"]
    for mine, other in zip(said, theirs, strict=False):
        if other == "refused":
            break
        assert mine == other


def _heard(connection: h11.Connection, pieces: Sequence[bytes]) -> list[object]:
    """Return a connection's requests with their bodies; "refused" for an invalid one."""
    heard: list[object] = []
    body = bytearray()
    try:
        for piece in pieces:
            if piece:
                connection.receive_data(piece)
            while not isinstance(event := connection.next_event(), type(h11.NEED_DATA)):
                if isinstance(event, h11.Request):
                    heard.append((event.method, event.target, _fields(event)))
                    body.clear()
                elif isinstance(event, h11.Data):
                    body += event.data
                elif isinstance(event, h11.EndOfMessage):
                    heard.append(bytes(body))
                    _answer(connection)
                else:
                    return heard
    except h11.RemoteProtocolError:
        heard.append("refused")
    return heard


def _answer(connection: h11.Connection) -> None:
    connection.send(h11.Response(status_code=200, headers=[(b"content-length", b"0")]))
    connection.send(h11.EndOfMessage())
    if connection.our_state is h11.DONE and connection.their_state is h11.DONE:
        connection.start_next_cycle()


def _fields(event: h11.Request) -> Sequence[tuple[bytes, bytes]]:
    return [(name, value) for name, value in event.headers if name not in (b"upgrade", b"http2-settings")]
