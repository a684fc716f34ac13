"""The programs of docs/clients.md, run as printed."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest
import trio

from actors.signatures import jwks
from sanderling_client import AsyncClient, UnknownKey, Unverified
from sanderling_client.records import NewSource
from tests.api.house import on_loopback
from tests.clients.receiver.deliveries import BODY, ID, KEY, NEW_KEY, SECRET, a_body
from tests.clients.receiver.test_receivers import headers
from tests.docs.blocks import the
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG, until

PROGRAMS = {
    name: text
    for text, name in re.findall(
        r"^```(?:python|js)\n((?:#|//) ([\w.]+): .*?)^```$", (ROOT / "docs/clients.md").read_text("utf-8"), re.M | re.S
    )
}


def test_the_page_has_these_programs() -> None:
    assert set(PROGRAMS) == {"follow.py", "follow.mjs", "deliveries.py"}


async def lines_of(command: list[str], folder: Path, last: str, **variables: str) -> list[str]:
    """Run a program until it has printed a line, then end it."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "clients/python/src"), **variables}  # noqa: TID251
    process = await trio.lowlevel.open_process(command, cwd=folder, env=environment, stdout=subprocess.PIPE)
    said = b""
    with trio.fail_after(HANG):
        while last.encode() + b"\n" not in said:
            piece = await process.stdout.receive_some()
            assert piece, said
            said += piece
    process.terminate()
    await process.wait()
    return said.decode().splitlines()


@pytest.mark.real
async def test_the_python_follower_resumes_after_a_stop(tmp_path: Path) -> None:
    (tmp_path / "follow.py").write_text(PROGRAMS["follow.py"])
    async with on_loopback() as (house, port):
        variables = {"SANDERLING_URL": f"http://127.0.0.1:{port}", "SANDERLING_KEY": await house.key()}
        await house.publish("first", "second")
        command = [sys.executable, "follow.py"]
        assert await lines_of(command, tmp_path, "second", **variables) == ["first", "second"]
        await house.publish("third")
        again = await lines_of(command, tmp_path, "third", **variables)
        assert again in (["third"], ["second", "third"])  # it may have ended before it stored its position


@pytest.mark.real
async def test_the_javascript_follower_prints_existing_events(built: Path) -> None:
    (built / "follow.mjs").write_text(PROGRAMS["follow.mjs"])
    async with on_loopback() as (house, port):
        variables = {"SANDERLING_URL": f"http://127.0.0.1:{port}", "SANDERLING_KEY": await house.key()}
        await house.publish("first", "second")
        assert await lines_of(["node", "follow.mjs"], built, "second", **variables) == ["first", "second"]


@pytest.mark.real
async def test_the_readme_examples_of_both_clients_run(built: Path) -> None:
    """The READMEs assume a key and a file for the cursor; the test provides both."""
    (built / "short.mjs").write_text("const key = process.env.KEY;\n" + the("clients/typescript/README.md", "ts"))
    given = "import os\nkey, remember = os.environ['KEY'], lambda cursor: None\n"
    (built / "short.py").write_text(given + the("clients/python/README.md", "python", "from"))
    async with on_loopback() as (house, port):
        for name in ("short.mjs", "short.py"):
            text = (built / name).read_text().replace("http://127.0.0.1:8080", f"http://127.0.0.1:{port}")
            (built / name).write_text(text.replace("event.title, received.event.url", "event.title"))
        await house.publish("first")
        for name, program in (("short.mjs", "node"), ("short.py", sys.executable)):
            variables = {"KEY": await house.key(), "PYTHONUNBUFFERED": "1"}
            assert await lines_of([program, name], built, "first", **variables) == ["first"]


@pytest.mark.real
async def test_the_asynchronous_program_of_the_readme_adds_a_source_and_reads() -> None:
    lines = "async def program():\n" + indent(the("clients/python/README.md", "python", "async with"), "    ")
    async with on_loopback() as (house, port), trio.open_nursery() as nursery:
        given = {"key": await house.key(), "AsyncClient": AsyncClient, "NewSource": NewSource}
        exec(lines.replace("127.0.0.1:8080", f"127.0.0.1:{port}"), given)
        nursery.start_soon(given["program"])
        await until(lambda: bool(house.registry.views and house.context.world.metrics.streams.value))
        assert [view.source.url for view in house.registry.views.values()] == ["https://example.com/feed"]
        nursery.cancel_scope.cancel()


class Keys:
    def __init__(self) -> None:
        self.given = [KEY]

    def read_keys(self) -> dict[str, object]:
        return dict(json.loads(jwks(self.given)))


def test_the_receiver_accepts_signed_requests_and_fetches_new_keys_once_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deliveries.py").write_text(PROGRAMS["deliveries.py"])
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    keys = Keys()
    receiver = runpy.run_path(str(tmp_path / "deliveries.py"))["Receiver"](keys, SECRET)

    def given(body: bytes) -> dict[str, str]:
        return {name: text.decode() for name, text in headers(body=body).items()}

    assert receiver.take(given(BODY), BODY) == ID
    with pytest.raises(Unverified):
        receiver.take(given(BODY), BODY + b" ")
    other = a_body(NEW_KEY)
    keys.given.append(NEW_KEY)
    with pytest.raises(UnknownKey):
        receiver.take(given(other), other)
    now += 61
    assert receiver.take(given(other), other) == ID
