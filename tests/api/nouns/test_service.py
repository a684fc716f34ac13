from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import trio

from actors.matcher import Lag
from actors.recorder.actor import Directory
from actors.sources.schedule.budgets import CheckRate
from api.nouns.service import LOOK_KEYS, look_keys, security_txt
from tests.api.house import House


async def test_the_keys_are_public_and_cacheable(house: House) -> None:
    async with house.stranger() as client:
        answer = await client.get("/.well-known/jwks.json")
    assert answer.json() == {"keys": []}
    assert answer.headers["cache-control"] == "public, max-age=300"


async def test_healthz_fails_when_the_writer_makes_no_progress(house: House, autojump_clock: object) -> None:
    moved = trio.current_time()
    house.storage.writer_moved_at = lambda: moved  # type: ignore[method-assign]
    async with house.stranger() as client:
        await trio.sleep(29)
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        await trio.sleep(2)
        sick = await client.get("/healthz")
    assert (sick.status_code, sick.json()["errors"][0]["location"]) == (503, "writer")


async def test_s5_readyz_reports_workers_without_a_kernel_sandbox(house: House) -> None:
    house.context.world.jail.lacks = lambda: "no Landlock (Function not implemented)"  # type: ignore[method-assign]
    async with house.stranger() as client:
        answer = await client.get("/readyz")
    assert answer.status_code == 200, "weaker, and not out of order"
    says = "The kernel does not wholly hold the workers: no Landlock (Function not implemented)."
    assert answer.json()["warnings"] == [says]


async def test_readyz_names_the_part_that_fails(house: House) -> None:
    async with house.stranger() as client:
        house.readiness.update(recorder="", sources="")
        house.overdue = 3  # a busy host causes some; it stays ready
        house.spent = CheckRate(40.0, 10.0, 240.0)
        said = (await client.get("/readyz")).json()
        looks, warnings = said.pop("looks"), said.pop("warnings")
        level = {"events_behind": 0, "seconds_behind": 0.0}
        assert said == {"status": "ready", "parts": ["recorder", "sources"], "overdue": 3, "matching": level}
        assert (looks["per_second"], looks["passed_for_seconds"]) == (40.0, 240.0) and "for 4 min." in warnings[0]
        house.readiness["sources"] = "They are being loaded."
        answer = await client.get("/readyz")
    assert answer.status_code == 503 and answer.headers["retry-after"]
    assert answer.json()["errors"] == [{"location": "sources", "message": "They are being loaded.", "value": None}]


async def test_r2_readyz_says_how_far_the_matcher_is_behind_and_is_ready_all_the_same(house: House) -> None:
    house.lag = Lag(84_210, 3_725.04)
    async with house.stranger() as client:
        answer = await client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["matching"] == {"events_behind": 84_210, "seconds_behind": 3_725.0}
    assert answer.json()["warnings"][0].startswith("84,210 events not matched with alerts yet")


async def test_security_txt_names_the_contact_or_is_not_there(house: House) -> None:
    async with house.stranger() as client:
        assert (await client.get("/.well-known/security.txt")).status_code == 404
    context = replace(house.context, settings=replace(house.context.settings, contact="tide@shore.example"))
    call: Any = SimpleNamespace(context=context)
    answer = await security_txt(call)
    assert answer.media == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in answer.encoded().decode().splitlines())
    assert fields["Contact"] == "mailto:tide@shore.example"
    assert fields["Canonical"].endswith("/.well-known/security.txt") and fields["Expires"].endswith("Z")


async def test_unsigned_checks_publish_no_keys(house: House) -> None:
    async with house.stranger() as client:
        assert (await client.get(LOOK_KEYS)).status_code == 404


async def test_keys_of_checks_come_with_proof_of_their_publisher(house: House) -> None:
    asked = []

    async def published(authority: str, at: int) -> Directory:
        asked.append((authority, at))
        return Directory(b'{"keys":[]}', {"Signature": "sig1=:AA==:", "Content-Digest": "sha-256=:AA==:"})

    context = replace(house.context, look_keys=published)
    call: Any = SimpleNamespace(context=context)
    answer = await look_keys(call)
    assert answer.media == "application/http-message-signatures-directory+json"
    assert answer.headers["Signature"] == "sig1=:AA==:" and answer.headers["Cache-Control"] == "public, max-age=3600"
    assert asked == [(context.settings.public_url().partition("://")[2], context.world.now() // 1000)]
