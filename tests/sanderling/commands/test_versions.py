"""sanderling sources versions, compare, restore: stored versions, their differences, and undoing a deletion."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any

import httpx
import pytest

from api.nouns.versions import VersionComparison, Versions
from sanderling.client import terminal
from sanderling.client.api import Client
from sanderling.commands import history, sources
from sanderling.exits import CommandFailed, Exit
from tests.sanderling.client.documented import as_documented, run
from tests.support.build import a_source_id

SOURCE = str(a_source_id(1))
OLD, NEW = "019db0a4-6a10-7000-8000-0000000000a7", "019db0a4-6a10-7000-8000-0000000000a8"


def kept(version: str, at: str | None, says: str = "") -> dict[str, Any]:
    return {"version": version, "at": at, "event_id": None, "says": says, "kept": "whole"}


VERSIONS = [
    kept(NEW, "2026-05-02T10:00:00.000Z", "Team: 10 → 12\x1b[2J"),
    kept(OLD, "2026-05-01T10:00:00.000Z"),
    kept("start", None),
]
STEPS = [
    {"op": "replace", "before": "10", "after": "12", "context": {"heading": "Plans", "row": "Team", "column": "Seats"}},
    {"op": "delete", "before": "A free trial"},
    {"op": "keep", "after": "Prices"},
]


def client(asked: list[httpx.Request], **changes: Any) -> Client:
    comparison = {"id": SOURCE, "from": VERSIONS[2], "to": VERSIONS[0], "partial": False, "truncated": False}
    comparison |= {"steps": STEPS} | changes

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        path = request.url.path
        if path.endswith("/versions"):
            return _json("GET", path, {"id": SOURCE, "versions": VERSIONS}, Versions)
        if path.endswith("/compare"):
            return _json("GET", path, comparison, VersionComparison)
        return httpx.Response(404, json={"detail": "There is no such source."})

    return Client("http://service.test", "svc_k", httpx.MockTransport(handle))


def _json(method: str, path: str, body: Mapping[str, Any], kind: type) -> httpx.Response:
    return httpx.Response(200, json=as_documented(method, path, 200, body))


def test_versions_are_listed_for_programs_with_whole_ids(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(history.versions, client([]), SOURCE) == Exit.WELL
    first, _, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{NEW}  2026-05-02T10:00:00.000Z  whole  Team: 10 → 12") and "\x1b" not in first
    assert last.startswith("start  -")


def test_versions_are_listed_for_a_person_with_ends_of_ids_and_heads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "for_a_person", lambda: True)
    run(history.versions, client([]), SOURCE)
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head.split() == ["version", "at", "kept", "what", "changed"] and first.startswith("000000a8")


def test_two_versions_are_compared_by_the_ends_of_their_ids() -> None:
    asked: list[httpx.Request] = []
    run(history.compare, client(asked), SOURCE, "start", "000000a8")
    assert dict(asked[-1].url.params) == {"show": "changes", "from": "start", "to": NEW}
    run(history.compare, client(asked), SOURCE, "--text")
    assert dict(asked[-1].url.params) == {"show": "text"} and len(asked) == 3, "the service knows the newest two"


def test_each_difference_has_a_place_and_a_sign() -> None:
    comparison = {"from": VERSIONS[2], "to": VERSIONS[0], "partial": True, "truncated": True, "steps": STEPS}
    assert list(history.comparison_lines(comparison, zone=UTC)) == [
        "start (-) → 000000a8 (2 May 2026 10:00)",
        "(of the main text only: more is not kept of one of them)",
        "- Plans › Team · Seats: 10",
        "+ Plans › Team · Seats: 12",
        "- A free trial",
        "  Prices",
        "… and more: --json has as much as the service gives",
    ]
    coloured = list(history.comparison_lines(comparison, colour=True, zone=UTC))
    assert coloured[2] == "\x1b[31m- Plans › Team · Seats: 10\x1b[0m" and coloured[5] == "  Prices"


@pytest.mark.parametrize("word", ["00a", "zzzz", "0000"])
def test_a_missing_or_ambiguous_version_is_reported(word: str) -> None:
    with pytest.raises(CommandFailed, match="sources versions"):
        run(history.compare, client([]), SOURCE, word)


def test_a_deleted_source_is_had_back_by_its_whole_id(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={"url": "https://a.test/", "title": "Prices", "found_title": ""})

    there = Client("http://service.test", "svc_k", httpx.MockTransport(handle))
    assert run(sources.restore, there, SOURCE) == Exit.WELL
    assert asked[0].url.path == f"/v1/sources/{SOURCE}/restore" and "Restored Prices." in capsys.readouterr().err
    with pytest.raises(CommandFailed, match="whole id"):
        run(sources.restore, client([]), "0000a7")
