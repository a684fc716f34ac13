"""The AsyncAPI Initiative's parser reads our document without a finding."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import msgspec
import pytest

from api.openapi.asyncapi import asyncapi
from api.openapi.document import document
from tests.api.walk import all_routes
from tests.support.node import modules

pytestmark = pytest.mark.real
NEWER = "asyncapi-latest-version"
"""We stay with 3.0 because generators do not read 3.1; this is the only accepted finding."""


def parsed(path: Path) -> tuple[list[str], list[str]]:
    """Return the parsed operations and the codes of the parser's findings."""
    folder = modules([Path(__file__).with_name("parse_asyncapi.mjs")])
    command = ["node", str(folder / "parse_asyncapi.mjs"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    operations, said = json.loads(done.stdout)
    return operations, said


def test_it_finds_every_operation_and_nothing_wrong(tmp_path: Path) -> None:
    sent = asyncapi(document(all_routes(), "http://sanderling.test"))
    (tmp_path / "good.json").write_bytes(msgspec.json.encode(sent))
    assert parsed(tmp_path / "good.json") == (sorted(sent["operations"]), [NEWER])


def test_it_would_find_a_channel_that_is_not_there(tmp_path: Path) -> None:
    sent = asyncapi(document(all_routes(), "http://sanderling.test"))
    sent["operations"]["sendStream"]["channel"] = {"$ref": "#/channels/nowhere"}
    (tmp_path / "bad.json").write_bytes(msgspec.json.encode(sent))
    assert set(parsed(tmp_path / "bad.json")[1]) - {NEWER}
