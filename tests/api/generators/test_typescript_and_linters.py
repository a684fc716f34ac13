"""openapi-typescript, redocly and spectral read our description without an error; all warnings are known."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from api.openapi.document import document
from tests.api.walk import all_routes
from tests.docs.blocks import the
from tests.support.node import modules

pytestmark = pytest.mark.real
QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_COLOR": "1"}
WARNINGS_OF_SPECTRAL = {
    "info-contact",  # the contact would be the operator's
    "oas3-operation-security-defined",  # OpenAPI 3.1 allows scopes on a bearer key, but the rule does not know it
}
RULES = {
    "extends": ["spectral:oas"],
    "overrides": [
        # The rule takes a template's parameter with `type` and `example` for a schema.
        {
            "files": [
                "openapi.json#/paths/~1v1~1templates~1%7Btemplate_id%7D/get/responses/200/content",
                "openapi.json#/components/schemas/TemplateRecord/examples",
            ],
            "rules": {"oas3-valid-schema-example": "off"},
        }
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("node")
    (folder / "node_modules").symlink_to(modules() / "node_modules")
    (folder / "openapi.json").write_bytes(msgspec.json.encode(document(all_routes(), "http://sanderling.test")))
    (folder / ".spectral.json").write_text(json.dumps(RULES))
    shutil.copy(Path(__file__).with_name("uses.ts"), folder)
    return folder


def run(folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(folder / "node_modules" / ".bin" / program), *words]
    env = {**os.environ, **QUIET}  # noqa: TID251  npm's programs need a PATH
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False, env=env)


def test_typescript_knows_requests_answers_and_webhooks_by_their_types(folder: Path) -> None:
    """`uses.ts` must compile, except for one line that must fail."""
    npx, *words = shlex.split(the("docs/api.md", "sh", "npx openapi-typescript"))
    made = run(folder, *words)
    assert npx == "npx" and made.returncode == 0, made.stdout + made.stderr
    (folder / "sanderling.d.ts").rename(folder / "types.d.ts")
    compiled = run(folder, "tsc", "--noEmit", "--strict", "uses.ts")
    assert compiled.returncode == 0, compiled.stdout


def test_redocly_finds_nothing_to_say(folder: Path) -> None:
    done = run(folder, "redocly", "lint", "--format=json", "openapi.json")
    assert json.loads(done.stdout)["problems"] == []


def test_spectral_finds_no_error(folder: Path) -> None:
    done = run(folder, "spectral", "lint", "--format=json", "--ruleset=.spectral.json", "openapi.json")
    found = Counter((problem["severity"], problem["code"]) for problem in json.loads(done.stdout))
    assert {severity for severity, _ in found} == {1}, found
    assert {code for _, code in found} == WARNINGS_OF_SPECTRAL
