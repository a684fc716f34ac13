"""The scripts of docs/testing-receivers.md, run as printed: openssl, curl, and the check of stored events."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from actors import signatures
from actors.signatures import jwks
from sanderling.environment import environ
from sanderling.real_world import wall
from sanderling_client.receiver.listen import Listener, Wishes
from sanderling_client.receiver.report import Paper
from storage.records.event import Event
from tests.actors.signatures.events import an_event
from tests.clients.receiver.deliveries import ANOTHER, BODY, ID, KEY, KEYS, NEW_KEY, SECRET, a_body
from tests.clients.receiver.snippets import command, written

pytestmark = pytest.mark.real

TEXT = 'Zwölf, \u2028 日本語, \U0001f426, \x7f, \x01, tab \t, / \\ and " <&>'


def run(folder: Path, name: str, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    for tool in {"check.sh": ["openssl"], "event.sh": ["openssl"], "send.sh": ["openssl", "curl"]}.get(name, []):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed here")
    path = f"{Path(sys.executable).parent}:{environ()['PATH']}"
    line = [*command(written(folder, name)), *arguments]
    return subprocess.run(line, input=stdin, cwd=folder, env={"PATH": path}, capture_output=True, check=False)


def keep(folder: Path, body: bytes = BODY, *secrets: str) -> None:
    at = int(wall()) - 7
    signature = signatures.sign_webhook(secrets or (SECRET,), ID, at, body)
    (folder / "headers").write_text(
        f"HTTP/1.1 200 OK\r\nWebhook-Id: {ID}\r\nWebhook-Timestamp: {at}\r\nWebhook-Signature: {signature}\r\n"
    )
    (folder / "body").write_bytes(body)


def test_a_stored_delivery_is_verified_with_openssl(tmp_path: Path) -> None:
    body = a_body(content=TEXT)
    keep(tmp_path, body)
    done = run(tmp_path, "check.sh", SECRET, "headers", "body")
    assert (done.returncode, done.stdout.split(b" ")[0], done.stderr) == (0, b"verified;", b"")
    keep(tmp_path, body, ANOTHER, SECRET)
    assert run(tmp_path, "check.sh", SECRET, "headers", "body").returncode == 0
    assert run(tmp_path, "check.sh", signatures.new_secret(bytes(24)), "headers", "body").returncode == 1
    (tmp_path / "body").write_bytes(body.replace(b"Ny", b"ny") + b" ")
    assert run(tmp_path, "check.sh", SECRET, "headers", "body").returncode == 1


@pytest.mark.parametrize("event", [an_event(), an_event(content=TEXT, title=TEXT, tags=(TEXT,))])
def test_an_events_own_signature_is_checked_with_openssl(tmp_path: Path, event: Event) -> None:
    body = a_body(content=event.content, title=event.title, tags=event.tags)
    (tmp_path / "jwks.json").write_bytes(jwks([NEW_KEY, KEY]))
    (tmp_path / "event.json").write_bytes(body)
    done = run(tmp_path, "event.sh", "jwks.json", "event.json")
    assert (done.returncode, b"Verified Successfully" in done.stdout) == (0, True), done.stderr
    (tmp_path / "event.json").write_bytes(body.replace(b'"simhash":7', b'"simhash":8'))
    assert run(tmp_path, "event.sh", "jwks.json", "event.json").returncode != 0


async def test_a_delivery_signed_by_hand_verifies_in_our_receiver(tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(BODY)
    listener = Listener(Wishes(secrets=(SECRET,)), wall=wall, paper=Paper(), echo=lambda line: None)
    (socket,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    url = f"http://127.0.0.1:{socket.socket.getsockname()[1]}/in"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, listener.http.serve, [socket])
        limiter = trio.CapacityLimiter(1)
        good, bad = [
            await trio.to_thread.run_sync(run, tmp_path, "send.sh", url, secret, "body", limiter=limiter)
            for secret in (SECRET, ANOTHER)
        ]
        nursery.cancel_scope.cancel()
    assert good.stdout.split() == [b"OK", b"200"], good.stderr
    assert bad.stdout.split()[-1] == b"400"


def test_stored_events_are_verified_offline(tmp_path: Path) -> None:
    (tmp_path / "jwks.json").write_bytes(KEYS)
    events = [BODY, a_body(content=TEXT, title=TEXT)]
    assert run(tmp_path, "check_events.py", "jwks.json", stdin=b"\n".join(events)).returncode == 0
    forged = BODY.replace(b"Ny text", b"Ny txet")
    for bad in (forged, a_body(NEW_KEY), b'{"id":"%s"}' % ID.encode()):
        done = run(tmp_path, "check_events.py", "jwks.json", stdin=b"\n".join([*events, bad]))
        assert (done.returncode, done.stdout.decode().strip()) == (1, f"does not verify: {ID}")
