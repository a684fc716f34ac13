"""Each receiver of the manual, run as printed, against deliveries signed by the service's code."""

from __future__ import annotations

import base64
import hmac
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from random import Random

import pytest

from actors import signatures
from actors.signatures import jwks
from sanderling.real_world import now
from sanderling_client.receiver import cases
from sanderling_client.receiver.cases import Forge, Signer
from sanderling_client.receiver.probe import grade, line, probe, target_of
from tests.clients.receiver.deliveries import ANOTHER, ID, KEY, NEW_KEY, SECRET, a_body
from tests.clients.receiver.snippets import Wire, programs, running

pytestmark = pytest.mark.real

FIRST = ("receiver.py", "receiver.mjs", "receiver.php", "receiver.go")
BOTH = ("both.mjs", "both.go")
"""Those that check the event's own signature too."""
RECEIVERS = FIRST + BOTH
BODY = a_body()


def headers(*secrets: str, body: bytes = BODY) -> dict[str, bytes]:
    at = now() // 1000
    signature = signatures.sign_webhook(secrets or (SECRET,), ID, at, body)
    return {
        "webhook-id": ID.encode(),
        "webhook-timestamp": str(at).encode(),
        "webhook-signature": signature.encode(),
    }


class KeyServer:
    def __init__(self) -> None:
        self.keys = [KEY]
        self.asked = 0
        keep = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                keep.asked += 1
                self.send_response(200)
                self.end_headers()
                self.wfile.write(jwks(keep.keys))

            def log_message(self, *words: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"


@pytest.fixture(scope="module")
def published() -> Iterator[KeyServer]:
    server = KeyServer()
    thread = threading.Thread(target=server.server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.server.shutdown()
    server.server.server_close()
    thread.join()


@pytest.fixture(scope="module", params=RECEIVERS)
def receiver(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, published: KeyServer, built: Path
) -> Iterator[tuple[str, int, Path]]:
    """A running receiver: its name, port and folder."""
    folder = tmp_path_factory.mktemp("receiver")
    with running(folder, request.param, built, WEBHOOK_SECRET=SECRET, JWKS=published.url) as port:
        yield request.param, port, folder


@pytest.fixture
def wire(receiver: tuple[str, int, Path]) -> Iterator[Wire]:
    wire = Wire(receiver[1])
    yield wire
    wire.close()


def test_every_program_of_the_page_is_under_test() -> None:
    assert set(programs()) == {*RECEIVERS, "check.sh", "send.sh", "event.sh", "check_events.py"}


def test_d15_a_good_delivery_gets_in_and_a_rotated_one_whichever_comes_first(wire: Wire) -> None:
    assert wire.post(headers(), BODY) == 200
    assert wire.post(headers(ANOTHER, SECRET), BODY) == 200
    assert wire.post(headers(SECRET, ANOTHER), BODY) == 200
    assert wire.post(headers(ANOTHER), BODY) == 400


def test_d15_no_flipped_bit_of_id_timestamp_or_body_gets_in(wire: Wire) -> None:
    good = headers()
    parts = {"webhook-id": good["webhook-id"], "webhook-timestamp": good["webhook-timestamp"], "body": BODY}
    passed = []
    for name, part in parts.items():
        for bit in range(0, 8 * len(part), 3):  # across the parts, every bit position in a byte
            flipped = bytearray(part)
            flipped[bit // 8] ^= 1 << bit % 8
            spoilt = {**good, "body": BODY, name: bytes(flipped)}
            body = spoilt.pop("body")
            if not (status := wire.post(spoilt, body)) or 400 <= status < 500:
                continue
            passed.append((name, bit, status))
    assert passed == []
    assert wire.post(headers(), BODY) == 200, "it has refused everything"


async def test_the_probe_gives_it_an_a(receiver: tuple[str, int, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    name, port, _ = receiver
    monkeypatch.setattr(cases, "SLOW", 0.3)
    target = target_of(f"http://127.0.0.1:{port}/in")
    results = await probe(target, Forge(SECRET, Signer(KEY.seed), now, Random(3)), tell=lambda result: None)
    assert [line(result) for result in results if result.weight] == []
    assert grade(results) == "A"
    assert line(results[-1]).endswith(f"signature is {'' if name in BOTH else 'not '}looked at")


def stored(folder: Path) -> list[bytes]:
    """Return the deliveries in a receiver's database, or in its folder."""
    if not (path := folder / "deliveries.db").exists():
        return [path.read_bytes() for path in (folder / "deliveries").iterdir()]
    with closing(sqlite3.connect(path)) as store:
        return [
            body if isinstance(body, bytes) else body.encode() for (body,) in store.execute("SELECT body FROM delivery")
        ]


@pytest.mark.parametrize("name", FIRST)
def test_a_repeated_delivery_is_stored_once(name: str, tmp_path: Path, built: Path) -> None:
    for _ in range(2):  # it knows them after a restart too
        with running(tmp_path, name, built, WEBHOOK_SECRET=SECRET) as port:
            wire = Wire(port)
            assert [wire.post(headers(), BODY) for _ in range(3)] == [200] * 3
            assert wire.post(headers(ANOTHER), BODY) == 400
            wire.close()
    assert stored(tmp_path) == [BODY]


@pytest.mark.parametrize("name", FIRST)
def test_without_a_secret_nothing_gets_in(name: str, tmp_path: Path, built: Path) -> None:
    at = now() // 1000
    token = base64.b64encode(hmac.digest(b"", f"{ID}.{at}.".encode() + BODY, "sha256"))
    forged = {"webhook-id": ID.encode(), "webhook-timestamp": str(at).encode(), "webhook-signature": b"v1," + token}
    try:
        with running(tmp_path, name, built) as port:
            wire = Wire(port)
            status = wire.post(forged, BODY)
            wire.close()
    except AssertionError as error:
        assert "did not start" in str(error)
    else:
        assert status >= 400


@pytest.mark.parametrize("name", BOTH)
def test_an_unknown_key_makes_it_fetch_the_set_once_and_not_at_each_forgery(
    name: str, tmp_path: Path, published: KeyServer
) -> None:
    strange = a_body(NEW_KEY)
    with running(tmp_path, name, WEBHOOK_SECRET=SECRET, JWKS=published.url) as port:
        wire, before = Wire(port), published.asked
        assert [wire.post(headers(body=strange), strange) for _ in range(3)] == [400] * 3
        assert published.asked == before + 1
        wire.close()


@pytest.mark.parametrize("name", BOTH)
def test_a_rotated_key_and_the_first_four_at_once_get_in(name: str, tmp_path: Path, published: KeyServer) -> None:
    strange = a_body(NEW_KEY)

    def deliver(port: int) -> int:
        wire = Wire(port)
        try:
            return wire.post(headers(body=strange), strange)
        finally:
            wire.close()

    published.keys.append(NEW_KEY)
    try:
        with running(tmp_path, name, WEBHOOK_SECRET=SECRET, JWKS=published.url) as port, ThreadPoolExecutor(4) as pool:
            assert list(pool.map(deliver, [port] * 4)) == [200] * 4
    finally:
        published.keys.remove(NEW_KEY)
