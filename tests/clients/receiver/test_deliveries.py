"""`receive` of both clients: the work comes after the answer, once, and again at the next start if it failed."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.clients.receiver import snippets
from tests.clients.receiver.deliveries import BODY, ID, SECRET
from tests.clients.receiver.snippets import Wire, running
from tests.clients.receiver.test_receivers import headers

pytestmark = pytest.mark.real

PROGRAMS = {
    "work.py": """
import os, pathlib
from sanderling_client import receive
def work(event):
    if os.environ.get("BROKEN"):
        raise ValueError("broken")
    with open("worked", "a") as file:
        file.write(event["id"] + "\\n")
receive(os.environ["WEBHOOK_SECRET"], work, port=int(os.environ["PORT"]))
""",
    "work.mjs": """
import { appendFile } from "node:fs/promises";
import { receive } from "sanderling-client";
const { WEBHOOK_SECRET, PORT, BROKEN } = process.env;
const work = (event) => {
  if (BROKEN) throw new Error("broken");
  return appendFile("worked", event.id + "\\n");
};
await receive([WEBHOOK_SECRET], work, { port: Number(PORT) });
""",
}
DIGEST = b'{"id":"%s","destination_id":"d","events":[{"id":"one"},{"id":"two"}]}' % ID.encode()
ENVELOPED = b'{"specversion":"1.0","data":{"id":"three","source_id":"s"}}'


def worked(folder: Path, *ids: str) -> bool:
    """Wait until the work has seen these events and the receiver has stored that: killed between, it works again."""
    path = folder / "worked"
    for _ in range(1000):
        if path.exists() and path.read_text().splitlines() == list(ids) and settled(folder):
            return True
        time.sleep(0.02)
    return False


def settled(folder: Path) -> bool:
    if (folder / "deliveries.db").exists():
        with closing(sqlite3.connect(folder / "deliveries.db", timeout=10)) as store:
            return not store.execute("SELECT 1 FROM delivery WHERE NOT done").fetchone()
    return any(folder.glob("deliveries/*.done")) and not any(folder.glob("deliveries/*.json"))


@pytest.fixture(params=PROGRAMS)
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(snippets, "programs", lambda: PROGRAMS)
    return str(request.param)


def test_work_gets_each_event_of_each_delivery_once(name: str, tmp_path: Path, built: Path) -> None:
    with running(tmp_path, name, built, WEBHOOK_SECRET=SECRET) as port:
        wire = Wire(port)
        assert [wire.post(headers(body=DIGEST), DIGEST) for _ in range(2)] == [200, 200]
        assert worked(tmp_path, "one", "two")
        wire.close()
    with running(tmp_path, name, built, WEBHOOK_SECRET=SECRET) as port:
        wire = Wire(port)
        assert wire.post(headers(body=DIGEST), DIGEST) == 200
        wire.close()
    assert worked(tmp_path, "one", "two")


def test_work_gets_the_event_of_a_cloudevent(name: str, tmp_path: Path, built: Path) -> None:
    with running(tmp_path, name, built, WEBHOOK_SECRET=SECRET) as port:
        wire = Wire(port)
        assert wire.post(headers(body=ENVELOPED), ENVELOPED) == 200
        assert worked(tmp_path, "three")
        wire.close()


def test_work_that_failed_is_done_at_the_next_start(name: str, tmp_path: Path, built: Path) -> None:
    with running(tmp_path, name, built, WEBHOOK_SECRET=SECRET, BROKEN="yes") as port:
        wire = Wire(port)
        assert wire.post(headers(), BODY) == 200
        wire.close()
    assert not (tmp_path / "worked").exists()
    with running(tmp_path, name, built, WEBHOOK_SECRET=SECRET):
        assert worked(tmp_path, ID)
