"""`sanderling listen` against good, bad, duplicate and hostile deliveries."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from actors.delivery.schedule import DigestWindow, digest_body
from actors.signatures import jwks, new_signing_key
from sanderling_client.receiver.capture import Capture
from sanderling_client.receiver.listen import Answers, Listener, Wishes
from sanderling_client.receiver.published import Published
from sanderling_client.receiver.report import Paper
from sanderling_client.receiver.terminal import UNREACHABLE, USAGE, Failed
from storage.records.destination import Destination
from storage.records.identity import Millis
from tests.clients.receiver.deliveries import (
    ANOTHER,
    AT,
    BODY,
    ID,
    KEY,
    KEYS,
    NEW_KEY,
    NOW,
    SECRET,
    a_body,
    a_capture,
)

HOOK = Destination(ID, ID, "webhook", "https://h.test/", "15min", "h.test", (), AT, AT)


class Rig:
    def __init__(self, tmp_path: Path, **wishes: Any) -> None:
        self.lines: list[str] = []
        (tmp_path / "keys").write_bytes(KEYS)
        self.published = Published(str(tmp_path / "keys"))
        given = {"secrets": (SECRET,), "published": self.published, **wishes}
        self.listener = Listener(
            Wishes(**given), wall=lambda: NOW, paper=Paper(zone=UTC, width=90), echo=self.lines.append
        )

    async def take(self, capture: Capture) -> int:
        if not self.published.keys["keys"]:
            await self.published.read()
        self.lines.clear()
        reply = await self.listener._take(capture)
        self.listener._count()
        return reply.status


async def test_a_good_delivery_is_printed_with_both_verdicts_and_answered_well(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    assert await rig.take(a_capture()) == 200
    assert rig.lines == [
        f"#1  2026-11-21 10:00:00  feed event  {ID}  {len(BODY)} B",
        "    webhook  verified    the signature covers the id, the timestamp and the raw body",
        f"    event    verified    signed with key {KEY.key_id} at 2026-11-21T10:00:00.123Z",
        "    title    Förslag",
        "    from     https://a.example/feed",
        "    emitted  2026-11-21 10:00:00 UTC",
        "    answered 200",
    ]


async def test_an_invalid_delivery_is_answered_400_with_the_reason(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    reply = await rig.listener._take(a_capture(secrets=(ANOTHER,)))
    assert (reply.status, "no token matches" in reply.text) == (400, True)
    assert "FAILED      no token matches" in rig.lines[1]
    assert rig.listener.failed == 1


async def test_a_repeated_a_late_and_an_altered_delivery_are_noted(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    await rig.take(a_capture())
    await rig.take(a_capture())
    assert rig.lines[1] == "    again    its id has come 2 times, first as #1, with the same body"
    await rig.take(a_capture(a_body(title="Other")))
    assert "ANOTHER body" in rig.lines[1]
    await rig.take(a_capture(id="0197a0af-0000-7000-8000-000000000000"))
    assert rig.lines[1].startswith("    late ")


async def test_a_digest_is_shown_event_by_event_and_names_the_one_that_fails(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    bad = a_body().replace(b"Ny text", b"Ny txet")
    events = [a_body(title=f"Note {number}") for number in range(30)] + [bad]
    body = digest_body(ID, HOOK, DigestWindow(AT, Millis(AT + 900_000)), events)
    assert await rig.take(a_capture(body)) == 400
    assert rig.lines[0].split("  ")[2] == "digest of 31"
    assert rig.lines[1] == "    webhook  verified    the signature covers the id, the timestamp and the raw body"
    assert rig.lines[2] == "    window   2026-11-21 10:00:00 UTC to 2026-11-21 10:15:00 UTC"
    assert rig.lines[3] == "    events   30 of 31 verified"
    assert sum("Note" in line for line in rig.lines) == 20
    assert [line for line in rig.lines if "FAILED" in line] == [
        f"      FAILED      {ID}  the signature does not match the event's content"
    ]


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"alert_type": "source_quiet"}, "notice source_quiet"),
        ({"tags": ("kind:test",)}, "test delivery"),
        ({"source_type": "html"}, "html event"),
    ],
)
async def test_the_listener_prints_the_kind_of_event(tmp_path: Path, changes: dict[str, object], kind: str) -> None:
    rig = Rig(tmp_path)
    await rig.take(a_capture(a_body(**changes)))
    assert rig.lines[0].split("  ")[2] == kind


async def test_x18_nothing_that_was_sent_reaches_the_terminal_as_it_is(tmp_path: Path) -> None:
    rig = Rig(tmp_path, secrets=())
    evil = "\x1b[31m\r\n\u202e\x9b#2 forged"
    body = a_body(title=evil, source_url=evil, emitted_at=evil, source_type="feed", alert_type=evil, id=evil)
    given = {"webhook-id": evil, "webhook-timestamp": evil, "webhook-signature": evil}
    for capture in (a_capture(body, given), a_capture(b'{"events":[%s],"destination_id":1}' % body, given)):
        for secrets in ((), (SECRET,)):
            rig = Rig(tmp_path, secrets=secrets)
            await rig.take(capture)
            assert not set("".join(rig.lines)) & set("\x1b\r\n\u202e\x9b")


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b"7", b"[" * 100_000, b'{"events":[1]}', b"{}"])
async def test_a_body_that_is_no_event_is_reported_as_none(tmp_path: Path, body: bytes) -> None:
    rig = Rig(tmp_path)
    assert await rig.take(a_capture(body)) == 400
    assert rig.lines[0].split("  ")[2] == "something else"
    assert "neither an event nor a digest" in rig.lines[2]


async def test_an_event_of_a_rotated_key_makes_it_read_the_set_again(tmp_path: Path, autojump_clock: object) -> None:
    rig = Rig(tmp_path)
    await rig.take(a_capture())
    (tmp_path / "keys").write_bytes(jwks([NEW_KEY, KEY]))
    assert await rig.take(a_capture(a_body(NEW_KEY))) == 200
    newest = new_signing_key(bytes([9]) * 32, AT)
    (tmp_path / "keys").write_bytes(jwks([newest, NEW_KEY, KEY]))
    assert await rig.take(a_capture(a_body(newest))) == 400, "anybody can name a key: not at each delivery"
    await trio.sleep(10)
    assert await rig.take(a_capture(a_body(newest))) == 200


async def test_deliveries_that_come_while_the_set_is_read_wait_for_it(tmp_path: Path, autojump_clock: object) -> None:
    asked = 0

    async def answer(request: httpx.Request) -> httpx.Response:
        nonlocal asked
        asked += 1
        await trio.sleep(1)
        return httpx.Response(200, content=jwks([KEY] if asked == 1 else [KEY, NEW_KEY]))

    rig = Rig(tmp_path, published=Published("http://service.test", httpx.MockTransport(answer)))
    await rig.listener._wishes.published.read()  # type: ignore[union-attr]
    statuses: list[int] = []

    async def deliver() -> None:
        statuses.append((await rig.listener._take(a_capture(a_body(NEW_KEY)))).status)

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(deliver)
    assert (statuses, asked) == ([200] * 4, 2)


async def test_the_receiver_answers_with_the_configured_status(tmp_path: Path, autojump_clock: object) -> None:
    rig = Rig(tmp_path, answers=Answers(503, fail_every=3), delay=2.0)
    assert [await rig.take(a_capture()) for _ in range(6)] == [200, 200, 503, 200, 200, 503]
    assert trio.current_time() == pytest.approx(12)
    assert await Rig(tmp_path, answers=Answers(410)).take(a_capture()) == 410
    assert await Rig(tmp_path, answers=Answers(None, fail_every=1)).take(a_capture()) == 500


async def test_it_ends_after_so_many_answers(tmp_path: Path) -> None:
    rig = Rig(tmp_path, count=2)
    await rig.take(a_capture())
    assert not rig.listener.done.is_set()
    await rig.take(a_capture())
    assert rig.listener.done.is_set()


async def test_without_means_nothing_is_claimed(tmp_path: Path) -> None:
    rig = Rig(tmp_path, secrets=(), published=None)
    assert await rig.take(a_capture()) == 200
    assert [line[13:24] for line in rig.lines[1:3]] == ["not checked"] * 2
    assert rig.listener.failed == 0


async def test_as_json_a_delivery_is_one_line_for_machines(tmp_path: Path) -> None:
    rig = Rig(tmp_path, as_json=True)
    await rig.take(a_capture())
    found = json.loads(rig.lines[0])
    assert len(rig.lines) == 1
    assert (found["number"], found["kind"], found["answered"]) == (1, "event", 200)
    assert found["webhook"]["cause"] == "verified" and found["webhook"]["valid"] is True
    assert [event["title"] for event in found["events"]] == ["Förslag"]


async def test_saved_deliveries_have_names_that_no_id_can_lead_astray(tmp_path: Path) -> None:
    rig = Rig(tmp_path, save=tmp_path / "kept")
    await rig.take(a_capture())
    await rig.take(a_capture(given={"webhook-id": "../../x/\x00y"}))
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == [f"0001-{ID}.json", "0002-xy.json"]
    assert json.loads((tmp_path / "kept" / f"0001-{ID}.json").read_bytes())["body"] == BODY.decode()


async def test_an_unwritable_folder_is_reported_and_the_delivery_answered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    rig = Rig(tmp_path, save=tmp_path / "file")
    assert await rig.take(a_capture()) == 200
    assert "can't save there" in capsys.readouterr().err


async def test_the_keys_of_a_service_are_at_the_well_known_path_of_its_address() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(200 if len(asked) == 1 else 404, content=KEYS)

    published = Published("http://service.test", httpx.MockTransport(answer))
    assert (await published.read()) == json.loads(KEYS)
    assert asked == ["http://service.test/.well-known/jwks.json"]
    with pytest.raises(Failed, match="says 404") as caught:
        await published.read()
    assert caught.value.exit_code == UNREACHABLE


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 100_000, b"\xff", None])
async def test_a_key_set_that_is_none_is_a_usage_error(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "keys").write_bytes(content)
    with pytest.raises(Failed) as caught:
        await Published(str(tmp_path / "keys")).read()
    assert caught.value.exit_code == USAGE
