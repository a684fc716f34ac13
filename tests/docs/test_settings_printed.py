"""The readers accept the files that pages print: our settings, systemd units, API answers."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import msgspec
import pytest
import yaml

from actors.setting_table import declared_as
from extras.inbox.operations import SignatureCheck
from sanderling.environment import environ, load
from storage.records.event import TypedChange
from tests.docs.blocks import Block, of, the

SETTINGS = [
    block
    for page in ("operating", "people", "proxies", "rendered-pages", "standby", "traces")
    for block in of(f"docs/{page}.md", "toml")
]


@pytest.mark.parametrize("block", SETTINGS, ids=str)
def test_a_file_of_settings_is_read_as_it_is_printed(block: Block, tmp_path: Path) -> None:
    (tmp_path / "sanderling.toml").write_text(block.text)
    loaded = load({"data": str(tmp_path)}, {})
    said = tomllib.loads(block.text)
    assert (
        said
        and {name: json.loads(json.dumps(declared_as(name).value(loaded.settings), default=str)) for name in said}
        == said
    )


def test_the_variables_of_the_page_on_mail_are_settings(tmp_path: Path) -> None:
    variables = dict(line.split("=", 1) for line in the("docs/mail.md", "ini").splitlines())
    settings = load({"data": str(tmp_path)}, variables).settings
    assert settings.mail_server == variables["SANDERLING_MAIL_SERVER"]
    assert settings.mail_password_file == variables["SANDERLING_MAIL_PASSWORD_FILE"]


def test_the_prometheus_job_scrapes_the_service_and_the_collector_example_is_complete() -> None:
    (job,) = yaml.safe_load(the("docs/metrics.md", "yaml"))["scrape_configs"]
    assert job["static_configs"] == [{"targets": ["127.0.0.1:8080"]}] and job["authorization"]["credentials_file"]
    collector = yaml.safe_load(the("docs/traces.md", "yaml"))
    for pipeline in collector["service"]["pipelines"].values():
        assert set(pipeline["receivers"]) <= set(collector["receivers"])
        assert set(pipeline["exporters"]) <= set(collector["exporters"])


UNITS = [block for page in ("install", "rendered-pages", "standby") for block in of(f"docs/{page}.md", "ini")]


@pytest.mark.real
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_has_nothing_to_say_of_the_units(tmp_path: Path) -> None:
    """An existing program replaces those that the units start; a drop-in gets a unit."""
    for number, block in enumerate(UNITS):
        name = re.match(r"# \S*/([\w@.-]+)\n", block.text)
        text = re.sub(r"(?m)^(ExecStart=)\S+", r"\1/bin/true", block.text)
        whole = text if "ExecStart=" in text or "[Socket]" in text else f"{text}ExecStart=/bin/true\n"
        (tmp_path / (name[1] if name else f"unit-{number}.service")).write_text(whole)
    made = sorted(str(path) for path in tmp_path.iterdir())
    assert len(made) == len(UNITS) > 3
    command = ["systemd-analyze", "verify", "--man=no", *made]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": environ()["PATH"]})
    assert not [line for line in (done.stdout + done.stderr).splitlines() if str(tmp_path) in line or "unit-" in line]


@pytest.mark.parametrize(("page", "shape"), [("testing-receivers", SignatureCheck), ("watching-values", TypedChange)])
def test_a_piece_of_an_answer_has_the_fields_that_answers_have(page: str, shape: type) -> None:
    text = the(f"docs/{page}.md", "json")
    strict = msgspec.defstruct(shape.__name__, [], bases=(shape,), forbid_unknown_fields=True)
    found: object = msgspec.json.decode(text, type=strict)
    assert isinstance(found, shape)
