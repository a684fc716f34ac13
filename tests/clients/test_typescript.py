"""The TypeScript client: compiled, then tested by node against the running application.

`clients/typescript/test` has the tests; this file makes the service's signatures and frames with the service's code.
"""

from __future__ import annotations

import base64
import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.signatures import jwks
from sanderling_client.receiver.cases import CASES, Forge, Should, Signer
from storage.records.event import Stored
from storage.records.identity import START, id_of
from tests.api.clients.cutting import cutting
from tests.api.clients.test_clients import EVENTS, write
from tests.api.house import ids, on_loopback
from tests.clients.building import tsc
from tests.clients.log import BEFORE, a_log, answer_after
from tests.clients.receiver.deliveries import ANOTHER, AT, KEY, NEW_KEY, NOW, SECRET, a_body
from tests.rules.source_files import ROOT
from tests.support.waiting import HANG

pytestmark = pytest.mark.real
SOURCE = ROOT / "clients/typescript"


async def node(built: Path, test: str, **variables: str) -> str:
    """Run one test file; return its output."""
    environment = {"PATH": os.environ["PATH"], "NODE_NO_WARNINGS": "1", **variables}  # noqa: TID251  node needs a PATH
    command = ["node", "--test", "--test-reporter=tap", f"test/{test}.test.mjs"]
    with trio.fail_after(HANG):
        done = await trio.run_process(command, cwd=built, env=environment, capture_stdout=True, check=False)
    said = done.stdout.decode()
    assert done.returncode == 0, said
    return said


def written(built: Path, name: str, fixtures: dict[str, Any]) -> str:
    path = built / f"{name}.json"
    path.write_text(json.dumps(fixtures))
    return str(path)


def text_of(body: bytes) -> str:
    return base64.b64encode(body).decode()


async def test_streams_go_on_over_a_cut_at_every_byte(built: Path) -> None:
    log = a_log(2, "Å\u2028🐦")
    answers = {cursor: text_of(answer_after(log, cursor)) for cursor in (BEFORE, *(one.id for one in log))}
    fixtures = {"log": [one.id for one in log], "before": BEFORE, "answers": answers}
    said = await node(built, "stream", FIXTURES=written(built, "stream", fixtures))
    assert int(re.findall(r"^# pass (\d+)$", said, re.M)[0]) >= 10


async def test_the_library_passes_the_receiver_probe(built: Path) -> None:
    forge = Forge(SECRET, Signer(KEY.seed), lambda: AT, random.Random(3))
    deliveries = [
        {
            "name": case.name,
            "accept": case.should is Should.ACCEPT,
            "headers": dict(one.headers),
            "body": text_of(one.body),
        }
        for case in CASES
        if case.should is not Should.EITHER
        for one in case.make(forge)
    ]
    fixtures = {"secret": SECRET, "another": ANOTHER, "now": NOW, "keys": json.loads(jwks([KEY]))}
    fixtures |= {"stranger": text_of(a_body(NEW_KEY)), "deliveries": deliveries}
    await node(built, "verify", FIXTURES=written(built, "verify", fixtures))


async def test_calls_and_a_stream_on_the_running_application(built: Path) -> None:
    log: list[Stored] = []
    async with on_loopback() as (house, port), cutting(port, seed=13) as (proxy, reached_at):
        variables = {"SERVICE": f"http://127.0.0.1:{port}", "PROXY": f"http://127.0.0.1:{reached_at}"}
        variables |= {"KEY": await house.key(), "SINCE": id_of(START, 0), "COUNT": str(EVENTS)}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(write, house, log)
            said = await node(built, "service", **variables)
    (taken,) = re.findall(r"TAKEN (\[.*\])", said)
    assert json.loads(taken) == ids(log)
    assert proxy.cuts > 10


USES = """
import { Client, ProblemError, type Event, verifyEvent } from "sanderling-client";

const client = new Client("http://127.0.0.1:8080", { key: "svc_x" });
for await (const received of client.stream({ tag: ["prices"], since: "earliest" })) {
  const event: Event = received.event;
  const title: string = (await verifyEvent(event, await client.readKeys())).title;
  if (event.delta?.stats.added === 7) break;
}
try {
  const source = await client.addSource({ url: "https://a.example/" });
  await client.changeAlert("id", { channel: null });
  await client.listDestinations({ limit: 3 }).then((page) => page.items[0]?.state === "of-a-later-version");
} catch (error) {
  if (error instanceof ProblemError && error.slug === "url-refused") throw error;
}
"""


WRONG = {
    "a_field_that_lacks": ("await client.addSource({});", "TS2345"),
    "a_word_that_is_not_known": ('await client.addAlert({ filter_query: "a", match: "other" });', "TS2322"),
    "no_operation": ("await client.nothing();", "TS2339"),
}


def test_a_program_is_held_to_the_types(built: Path) -> None:
    (built / "good.mts").write_text(USES)
    for name, (line, _) in WRONG.items():
        (built / f"{name}.mts").write_text(USES + line)
    flags = ("--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom")
    done = tsc(built, *flags, "good.mts", *(f"{name}.mts" for name in WRONG))
    assert dict(re.findall(r"^(\w+)\.mts.* error (TS\d+)", done.stdout, re.M)) == {
        name: complaint for name, (_, complaint) in WRONG.items()
    }


def test_the_package_has_a_description_and_no_dependency() -> None:
    package = json.loads((SOURCE / "package.json").read_text())
    assert (package["type"], package["license"]) == ("module", "MIT") and "dependencies" not in package
    pinned = json.loads((ROOT / "tests/support/npm/package.json").read_text())["dependencies"]
    assert package["devDependencies"] == {"typescript": pinned["typescript"]}
    assert (SOURCE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
