"""Broken and forged files: each is refused with its line and reason, and leaves nothing behind."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.settings import Settings
from actors.signatures import new_signing_key, public_half
from extras.migrate.whole import reading
from extras.migrate.whole.loading import load, look_through, take_over
from sanderling.exits import CommandFailed, Exit
from sanderling.real_world import entropy
from tests.extras.migrate.whole_instance import HOOK, a_folder, exported
from tests.storage.contract.builders import NOW

pytestmark = pytest.mark.real
Lines = list[dict[str, Any]]
ORDER = {str(kind.__struct_config__.tag): place for place, kind in enumerate(reading.ORDER)}
PLURALS = tuple(name for name in reading.End.__struct_fields__ if name != "sha256")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return trio.run(lambda: _exported(tmp_path_factory.mktemp("instance")))


async def _exported(folder: Path) -> bytes:
    return await exported(await a_folder(folder / "old"))


def honest(every: Lines) -> bytes:
    """Return lines as an export with a correct count and digest: only the lines are wrong."""
    head, *inner = [json.dumps(line).encode() + b"\n" for line in every[:-1]]
    kinds = [line["line"] for line in every]
    count = {name: kinds.count(name.removesuffix("s")) for name in PLURALS}
    end = {"line": "end"} | count | {"sha256": hashlib.sha256(b"".join(inner)).hexdigest()}
    return b"".join([head, *inner, json.dumps(end).encode(), b"\n"])


def first(every: Lines, kind: str) -> dict[str, Any]:
    return next(line for line in every if line["line"] == kind)


def twice(kind: str) -> Callable[[Lines], object]:
    return lambda every: every.insert(
        next(n for n, line in enumerate(every) if line["line"] == kind), first(every, kind)
    )


def put(kind: str, path: str, value: object) -> Callable[[Lines], object]:
    """Return a change of a field of the first line of a kind."""

    def change(every: Lines) -> None:
        record, *way = first(every, kind), *path.split(".")
        for name in way[:-1]:
            record = record[name]
        record[way[-1]] = value

    return change


def take(kind: str) -> Callable[[Lines], object]:
    return lambda every: every.remove(first(every, kind))


def put_last(kind: str) -> Callable[[Lines], object]:
    """Return a change that moves the first line of a kind behind all others."""

    def change(every: Lines) -> None:
        line = first(every, kind)
        every.remove(line)
        every.insert(-1, line)

    return change


STRANGE = public_half(new_signing_key(b"z" * 32, NOW))
CHANGES: dict[str, tuple[Callable[[Lines], object], str]] = {
    "a key twice": (twice("key"), "is there twice"),
    "a source twice": (twice("source"), "is there twice"),
    "an alert twice": (twice("alert"), "is there twice"),
    "a destination twice": (twice("destination"), "is there twice"),
    "an event twice": (twice("event"), "does not come after"),
    "the log twice": (twice("log"), "does not belong here"),
    "no log": (take("log"), "'log' is missing"),
    "events in disorder": (put_last("event"), "does not come after"),
    "a source behind events": (put_last("source"), "does not belong here"),
    "an unknown line": (put("source", "line", "sauce"), "sauce"),
    "an unknown field": (put("alert", "more", 1), "more"),
    "an unknown field within": (put("source", "source.detection.sure", 1), "source.detection.sure"),
    "a missing field": (lambda every: first(every, "source")["source"].pop("url"), "url"),
    "a field of another type": (put("source", "memory.looks", "3"), "looks"),
    "two sources of one URL": (put("source", "source.url", "https://news2.example/feed"), "is there twice"),
    "a URL of another spelling": (put("source", "source.url", "HTTPS://news1.example/feed"), "one spelling"),
    "no URL to watch": (put("source", "source.watch_url", "file:///etc/passwd"), "line 5"),
    "a greeting": (put("source", "source.hello", "token"), "secret"),
    "headers": (put("source", "source.headers", "Cookie: a=1"), "secret"),
    "an id of another spelling": (put("source", "source.id", "x"), "line 5"),
    "an id that clashes": (put("alert", "alert.id", HOOK), "is there twice"),
    "a destination of no alert": (put("destination", "destination.alert_id", HOOK), "alert"),
    "a destination to a file": (put("destination", "destination.url", "file:///x"), "line 9"),
    "an alert that met more than all": (put("alert", "alert.match_count", 1), "more on its days"),
    "an alert whose days are not its last": (put("alert", "matched", {"2020-01-01": 1}), "last ones"),
    "a key under another name": (put("key", "x", STRANGE.x), "thumbprint"),
    "an event of another kind": (put("event", "kind", "push"), "kind"),
    "an event without a title": (lambda every: first(every, "event")["event"].pop("title"), "title"),
    "an event with an id of no time": (put("event", "event.id", "0" * 8), "line"),
    "a position beyond": (put("log", "forgotten", "ffffffff-ffff-4fff-8fff-ffffffffffff"), "line 2"),
    "an older form": (put("head", "sanderling_export", 0), "first line"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_contradictory_file_is_refused_with_its_line(what: str, data: bytes) -> None:
    every = [json.loads(line) for line in data.splitlines()]
    assert look_through(io.BytesIO(honest(every)), "F").end.events == 8
    change, says = CHANGES[what]
    change(every)
    with pytest.raises(CommandFailed, match=says) as refused:
        look_through(io.BytesIO(honest(every)), "F")
    assert refused.value.message.startswith("F: line ")


@pytest.mark.parametrize("keep", [1, 100, 5_000, -1, -300])
def test_a_file_that_is_cut_anywhere_is_refused_and_leaves_an_empty_folder(
    keep: int, data: bytes, tmp_path: Path
) -> None:
    with pytest.raises(CommandFailed, match=r"cut short|first line"):
        load(io.BytesIO(data[:keep]), "F", tmp_path, entropy)
    assert [path.name for path in tmp_path.iterdir()] == ["sanderling.lock"]


def test_a_file_that_is_cut_between_two_lines_is_noticed(data: bytes, tmp_path: Path) -> None:
    every = data.splitlines(keepends=True)
    with pytest.raises(CommandFailed, match="cut short"):
        load(io.BytesIO(b"".join(every[:-1])), "F", tmp_path, entropy)
    with pytest.raises(CommandFailed, match="not as many lines"):
        load(io.BytesIO(b"".join([*every[:-2], every[-1]])), "F", tmp_path, entropy)
    assert [path.name for path in tmp_path.iterdir()] == ["sanderling.lock"]


def test_a_changed_byte_and_a_line_too_many_are_noticed(data: bytes) -> None:
    with pytest.raises(CommandFailed, match="SHA-256"):
        look_through(io.BytesIO(data.replace(b"Nyheter", b"Nyhetar")), "F")
    with pytest.raises(CommandFailed, match="more after its last line"):
        look_through(io.BytesIO(data + b"\n"), "F")


def test_a_file_of_a_newer_form_is_refused_with_the_version_that_reads_it(data: bytes) -> None:
    newer = data.replace(b'"sanderling_export":1', b'"sanderling_export":2,"new":1').replace(b'"0.1.0"', b'"7.0.0"')
    with pytest.raises(CommandFailed, match=r"Sanderling 7\.0\.0, in a newer form") as refused:
        look_through(io.BytesIO(newer), "F")
    assert refused.value.code == Exit.BAD_DATA


def test_a_line_without_an_end_is_not_read_to_its_end(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(io.BytesIO):
        def readline(self, size: int | None = -1) -> bytes:
            assert size is not None
            assert 0 < size <= reading.MOST_LINE + 1
            return super().readline(size)

    head = data.partition(b"\n")[0] + b"\n"
    with pytest.raises(CommandFailed, match="line 2: is longer than 8 MiB"):
        look_through(Endless(head + b" " * (reading.MOST_LINE + 2)), "F")


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"{}\n", b"[" * 100_000 + b"\n", b'{"sanderling_export":1}\n', b"\xff\xfe\n"]
)
def test_rubbish_is_refused(text: bytes) -> None:
    with pytest.raises(CommandFailed, match="F: line 1"):
        look_through(io.BytesIO(text), "F")


@pytest.mark.parametrize("begin", [b'{"line":"log","forgotten":', b'{"line":"event","kind":"feed","event":', b'{"a":'])
def test_an_endlessly_nested_file_is_refused(begin: bytes, data: bytes) -> None:
    head = data.partition(b"\n")[0] + b"\n"
    with pytest.raises(CommandFailed, match="line 2"):
        look_through(io.BytesIO(head + begin + b"[" * 200_000 + b"]" * 200_000 + b"}\n"), "F")


def test_without_a_terminal_nothing_is_done(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="--yes") as refused:
        take_over(io.BytesIO(data), "F", Settings(data=str(tmp_path)), dry_run=False, yes=False, as_json=False)
    assert refused.value.code == Exit.USAGE
    assert list(tmp_path.iterdir()) == []


def test_s18_the_confirmation_names_the_instances_whose_keys_an_import_publishes(
    data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    take_over(io.BytesIO(data), "F", Settings(data=str(tmp_path)), dry_run=True, yes=False, as_json=False)
    said = capsys.readouterr().err
    assert "/.well-known/jwks.json publishes" in said
    assert look_through(io.BytesIO(data), "F").keys[0] in said
