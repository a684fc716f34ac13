"""`receive` of both clients: the work comes after the answer, once, and again at the next start if it failed."""

from __future__ import annotations

import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from sanderling.environment import environ
from tests.clients.receiver import snippets
from tests.clients.receiver.deliveries import ANOTHER, BODY, ID, SECRET
from tests.clients.receiver.snippets import ROOT, Wire, command, running, written
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


@pytest.mark.parametrize("secret", ["", "whsec_...", "svc_" + "a" * 40, f"{SECRET} "])
def test_a_secret_of_no_destination_is_refused_at_the_start(
    name: str, secret: str, tmp_path: Path, built: Path
) -> None:
    (tmp_path / "node_modules").symlink_to(built / "node_modules")
    variables = {"PATH": environ()["PATH"], "PYTHONPATH": str(ROOT / "clients/python/src")}
    variables |= {"WEBHOOK_SECRET": secret, "PORT": "0"}
    line = command(written(tmp_path, name))
    done = subprocess.run(line, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "is no signing secret: use the whsec_..." in done.stderr


def test_a_receiver_says_where_it_listens_and_what_it_refuses(
    name: str, tmp_path: Path, built: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with running(tmp_path, name, built, WEBHOOK_SECRET=ANOTHER) as port:
        wire = Wire(port)
        assert wire.post(headers(), BODY) == 400
        wire.close()
    said = capfd.readouterr().err
    assert f"Receiving on http://127.0.0.1:{port}" in said and said.count("Refused a request: ") == 1
