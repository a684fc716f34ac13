from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from msgspec import to_builtins

from extras.inbox import commands as bins
from extras.inbox.operations import BinRecord, CaptureRecord
from sanderling.client.api import Client
from sanderling.exits import CommandFailed, Exit
from tests.sanderling.client.documented import client, record_of, run

BIN, CAPTURE = record_of(BinRecord), record_of(CaptureRecord)
SEEN = to_builtins(CAPTURE)


def captured(number: int) -> dict[str, Any]:
    return SEEN | {"id": f"id {number}", "received_at": f"2026-04-21T10:24:{number:02}.000Z"}


def test_the_address_of_a_new_bin_is_all_that_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    run(bins.create, client([]))
    assert capsys.readouterr().out == f"{BIN.url}\n"


def test_a_bin_is_named_by_a_part_of_its_address_and_shown_with_the_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    run(bins.show, client(asked), BIN.url[-8:], "--limit", "5")
    assert asked[-1][0] == f"GET /v1/webhook-bins/{BIN.id}/captures"
    told = capsys.readouterr().out
    assert "hmac ok, ed25519 ok" in told and CAPTURE.signature_check.hmac.why in told and str(CAPTURE.body) in told


def test_an_empty_name_names_nothing_though_there_is_only_one_bin() -> None:
    asked: list[tuple[str, Any]] = []
    with pytest.raises(CommandFailed, match="Which bin"):
        run(bins.delete, client(asked), " ", "--yes")
    assert asked == []


def test_foreign_text_is_escaped_in_the_terminal() -> None:
    sent = SEEN | {"path": "/\x1b[2J", "headers": [["x", "\x1b]0;"]], "body": "\x1b[31m\n" * 60, "truncated": True}
    told = list(bins.capture_page(sent))
    assert "\x1b" not in "".join(told)
    assert any("20 more lines" in line for line in told)
    del sent["body"]
    assert any("3 bytes that are no text" in line for line in bins.capture_page(sent | {"body_base64": "AP8K"}))


def test_tail_prints_each_capture_once_in_order(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also when a hundred newer captures have pushed out the last known one."""
    monkeypatch.setattr(bins, "EVERY", 0.0)
    pages = iter([[captured(1)], [captured(1)], [captured(3), captured(2), captured(1)], [captured(5), captured(4)]])

    service = client([], lambda route: next(pages) if route.path.endswith("captures") else None)
    run(bins.tail, service, BIN.id, "--count", "4", "--json")
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == [
        f"id {n}" for n in (2, 3, 4, 5)
    ]


def failing(*answers: Any) -> Client:
    """Return a client of a service with these answers in turn: captures, a status, or None for a refused connection."""
    left = iter(answers)

    def handle(_: httpx.Request) -> httpx.Response:
        match next(left):
            case None:
                raise httpx.ConnectError("refused")
            case int(status):
                return httpx.Response(status, json={"detail": "stopping"})
            case captures:
                return httpx.Response(200, json=captures)

    return Client("http://service.test", "svc_k", httpx.MockTransport(handle))


def test_tail_waits_for_a_service_that_restarts_and_misses_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bins, "EVERY", 0.0)
    service = failing([captured(1)], [captured(1)], 503, None, [captured(2), captured(1)])
    run(bins.tail, service, BIN.id, "--count", "1", "--json")
    out, err = capsys.readouterr()
    assert json.loads(out)["id"] == "id 2"
    assert err.count("trying again") == 2 and err.endswith("connected again\n")


@pytest.mark.parametrize(("answers", "code"), [((None,), Exit.UNREACHABLE), (([], 404), Exit.FAILED)])
def test_tail_ends_without_a_service_or_a_bin(
    monkeypatch: pytest.MonkeyPatch, answers: tuple[Any, ...], code: Exit
) -> None:
    monkeypatch.setattr(bins, "EVERY", 0.0)
    with pytest.raises(CommandFailed) as caught:
        run(bins.tail, failing(*answers), BIN.id, "--count", "1", "--json")
    assert caught.value.code is code
