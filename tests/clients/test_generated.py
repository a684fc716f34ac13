"""The generated client code matches the API description."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.openapi.document import document
from clients.generate import __main__, python, typescript
from clients.generate.model import read, snake
from sanderling_client import operations, records, refusals
from tests.api.walk import all_routes

DESCRIPTION = document(all_routes(), "http://sanderling.test")
API = read(DESCRIPTION)


def test_only_what_changed_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("python/src/sanderling_client", "typescript/src"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(__main__, "CLIENTS", tmp_path)
    __main__.main()
    written = {path: path.stat().st_ino for path in tmp_path.rglob("*.*")}
    stale, *fresh = written
    stale.write_text("older")
    __main__.main()
    assert {path: path.read_text("utf-8") for path in tmp_path.rglob("*.*")} == __main__.files()
    assert [path.stat().st_ino for path in fresh] == [written[path] for path in fresh]


def test_every_operation_of_the_api_but_streams_and_pages_is_a_method_of_both_clients() -> None:
    missing = {
        f"{method.upper()} {path}"
        for path, methods in DESCRIPTION["paths"].items()
        for method in methods
        if (method.upper(), path) not in {(one.method, one.path) for one in API.operations}
    }
    assert {each for each in missing if " /v1/" in each} == {
        "GET /v1/stream",
        "GET /v1/streams/{channel}",
        "GET /v1/admin/feed",
    }
    names = {snake(one.name) for one in API.operations}
    assert len(names) == len(API.operations) > 60
    for kind in (operations.Operations, operations.AsyncOperations):
        assert {name for name in vars(kind) if not name.startswith("_")} == names


def test_a_method_has_the_parameters_of_its_operation(subtests: pytest.Subtests) -> None:
    for one in API.operations:
        with subtests.test(one.name):
            for kind in (operations.Operations, operations.AsyncOperations):
                parameters = inspect.signature(getattr(kind, snake(one.name))).parameters
                wanted = [*one.place, *one.query, *one.headers]
                assert len(parameters) == 1 + len(wanted) + bool(one.body)


def said(value: Any) -> Any:
    """Return a value without nulls: a null field in an answer equals a missing one."""
    if isinstance(value, dict):
        return {name: said(one) for name, one in value.items() if one is not None}
    return [said(one) for one in value] if isinstance(value, list | tuple) else value


def test_the_example_of_a_type_is_a_record_and_the_record_is_the_example(subtests: pytest.Subtests) -> None:
    for record in API.records:
        with subtests.test(record.name):
            kind: Any = getattr(records, record.name)
            for example in DESCRIPTION["components"]["schemas"][record.name].get("examples", ()):
                written = msgspec.json.decode(msgspec.json.encode(msgspec.convert(example, kind)))
                assert said(written) == said(example)


def test_unknown_fields_are_ignored_and_missing_ones_are_an_error() -> None:
    example = DESCRIPTION["components"]["schemas"]["Event"]["examples"][0]
    later = {**example, "source_type": "of-a-later-version", "in_a_later_version": {"a": 1}}
    assert msgspec.convert(later, records.Event).source_type == "of-a-later-version"
    del later["title"]
    with pytest.raises(msgspec.ValidationError, match="title"):
        msgspec.convert(later, records.Event)


def test_a_patch_sends_null_and_omits_absent_fields() -> None:
    assert msgspec.json.encode(records.AlertPatch(channel=None, enabled=True)) == b'{"channel":null,"enabled":true}'


def test_every_kind_of_problem_of_the_description_is_a_class() -> None:
    shown = {
        slug
        for answer in DESCRIPTION["components"]["responses"].values()
        for slug in answer["content"]["application/problem+json"]["examples"]
    }
    assert set(refusals.REFUSALS) == shown and "cursor-expired" in shown


def test_the_python_is_python_and_both_say_that_they_are_generated() -> None:
    for text in (python.records(API), python.operations(API), python.refusals(API)):
        compile(text, "generated", "exec")
        assert "make clients" in text
    assert "make clients" in typescript.records(API) and "export interface Event {" in typescript.records(API)
