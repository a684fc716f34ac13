"""Lists on a terminal, and in a pipe."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.fields.sources import SourceRecord
from extras.inbox import commands as bins
from extras.publish import commands as publications
from sanderling import cli, flags
from sanderling.client import terminal
from sanderling.client.lines import LEAST, Cell, ago, piped, short_ids, table, within
from sanderling.commands import alerts, keys, sources
from sanderling.commands.keys import SOURCES
from sanderling.keyring import key_document
from sanderling.operations import backup as weighing
from sanderling_client.receiver.terminal import cells
from storage.records.access import ApiKey
from storage.records.identity import Millis
from tests.sanderling.client.documented import client, record_of, run
from tests.sanderling.test_json_everywhere import walked

SOURCE = record_of(SourceRecord)
NOW = datetime.fromisoformat("2026-04-21T13:10:00Z")
LISTS = {
    "sources": sources.listed,
    "alerts": alerts.listed,
    "bins": bins.listed,
    "publications": publications.listed,
}
WHOLE_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


@pytest.fixture
def at_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "for_a_person", lambda: True)


@pytest.mark.parametrize("name", list(LISTS))
def test_on_a_terminal_a_list_has_heads_and_ends_of_ids(
    name: str, at_terminal: None, capsys: pytest.CaptureFixture[str]
) -> None:
    run(LISTS[name], client([]))
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert "id" in head.split() and not WHOLE_ID.search(first.partition("http")[0])


COLUMNS = {
    "kinds list": "kind for name asks",
    "templates list": "template version takes name from",
    "keys list": "key id name",
    "keys signing": "key state made",
    "sources sizes": "size share events source",
}
"""Lists that need no service, with their first heads."""
BY_SERVICE = {
    "sources list",
    "tags list",
    "alerts list",
    "bins list",
    "publications list",
    "people list",
    "sources versions",
}


@pytest.mark.parametrize("line", list(COLUMNS))
def test_a_list_without_a_service_has_headings_only_on_a_terminal(
    line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(tmp_path / "data")
    for module in (flags,):
        monkeypatch.setattr(module, "environ", lambda: {"SANDERLING_DATA": data})
    assert cli.run(["keys", "create", "--name", "desk", "--scope", "stream:read"]) == 0
    assert cli.run(["keys", "rotate-signing"]) == 0
    capsys.readouterr()
    assert cli.run(line.split()) == 0
    assert not capsys.readouterr().out.startswith(COLUMNS[line])
    monkeypatch.setattr(terminal, "for_a_person", lambda: True)
    monkeypatch.setattr(weighing, "sizes", lambda folder: [weighing.Size("a", "https://a.test/", 3, 9_000)])
    assert cli.run(line.split()) == 0
    assert " ".join(capsys.readouterr().out.split()).startswith(COLUMNS[line])


def test_every_command_that_lists_is_one_of_these() -> None:
    lists = ("list", "signing", "sizes", "versions")
    assert {name for name, _ in walked(cli.main) if name.rpartition(" ")[2] in lists} == {*COLUMNS, *BY_SERVICE}


@pytest.mark.parametrize("name", list(LISTS))
def test_in_a_pipe_a_list_has_full_ids_and_no_headings(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(LISTS[name], client([]))
    assert WHOLE_ID.search(capsys.readouterr().out.splitlines()[0])


def test_a_source_is_named_before_its_url_and_its_state_has_a_colour() -> None:
    record: dict[str, Any] = {
        "id": SOURCE.id,
        "state": "failing",
        "type": "html",
        "title": "Prices",
        "found_title": "",
        "url": "https://shop.test/p",
        "health": {"score": 0.5, "flag": "degraded", "reason": "404"},
    }
    lines = list(table(sources.SOURCE_LIST.heads, [sources.source_row(record)], 100, colour=True))
    assert "Prices https://" not in lines[1] and "Prices shop.test/p" in lines[1] and "page" in lines[1]
    assert "\x1b[31mfailing" in lines[1] and lines[0].startswith("\x1b[1mstate")
    assert "\x1b" not in "".join(table(sources.SOURCE_LIST.heads, [sources.source_row(record)], 100, colour=False))


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=200)), min_size=1, max_size=5), st.integers(60, 160))
def test_no_line_is_wider_than_the_terminal_for_any_page(rows: list[tuple[str, str]], width: int) -> None:
    told = [(Cell("ok", "good"), Cell("1", right=True), *row) for row in rows]
    lines = list(table(("state", "n", "name", "says"), told, width, colour=False))
    assert all(cells(line) <= width for line in lines)
    assert not any(ord(sign) < 32 or 0x7F <= ord(sign) < 0xA0 for line in lines for sign in line)


@pytest.mark.parametrize("word", [SOURCE.id[:10], SOURCE.id[-6:], SOURCE.id])
async def test_an_id_is_named_by_its_beginning_or_its_end(word: str) -> None:
    assert await SOURCES.id_of(client([]), word) == SOURCE.id


@given(st.lists(st.uuids().map(str), unique=True, max_size=40))
def test_short_ids_distinguish_all_rows(ids: list[str]) -> None:
    short = short_ids(ids)
    assert short.keys() == set(ids)
    assert all(len(short[id]) >= LEAST and [one for one in ids if one.endswith(short[id])] == [id] for id in ids)


def test_times_are_ages() -> None:
    assert ago("2026-04-19T10:00:00.000Z", NOW) == "2d ago" and ago(None, NOW) == "never"
    assert within("2026-04-21T13:40:00Z", NOW) == "in 30m" and within("2026-04-21T13:00:00Z", NOW) == "over"


def test_a_key_is_shown_with_ages_in_a_table_and_with_times_in_a_pipe() -> None:
    record = key_document(
        ApiKey(
            id=SOURCE.id,
            name="me",
            prefix="svc_abc",
            sha256="",
            scopes=("stream:read",),
            rate_per_minute=600,
            burst=100,
            created_at=Millis(0),
            last_used_at=None,
        )
    )
    row = keys.KEY_LIST.row(record)
    assert piped(row) == f"svc_abc...  {SOURCE.id}  me  600  1970-01-01T00:00:00.000Z  never  never  stream:read"
    (_, line) = table(keys.KEY_LIST.heads, [row], 100, colour=False)
    assert re.fullmatch(
        rf"svc_abc\.\.\.  {SOURCE.id[-6:]}  me    600       \d+d ago  never  never    stream:read", line
    )
