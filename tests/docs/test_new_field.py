"""The cost of a new field, measured: a copy of the product gets one, and every face of its noun has it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_walks import walk
from tests.rules.source_files import ROOMS, ROOT

NOTE = 'note: Annotated[str, Meta(max_length=200), option("Your own words on it.")] = ""'
OF_ALERTS = {
    "storage/records/alert.py": ("    managed: Managed | None = None\n", '    note: str = ""\n'),
    "api/fields/alerts.py": (
        "    private_source_ids: PrivateSources = ()\n",
        f"    {NOTE}\n",
    ),
    "api/openapi/words/alerts.json": ('"notice_after": 3600,', '\n"note": "",'),
    "api/dashboard/templates/alerts/form.html": (
        '<summary>{{ say("More options") }}</summary>\n',
        '{{ ui.field("note", say("Note"), value=form.note) }}\n',
    ),
}
"""Files of the walk: a line, and another to write below it."""
SHOWN = ("once_per_story created_at", "once_per_story note created_at")
FACES = """
import click
from api.dashboard.notifying.alerts import AlertForm, form_of
from api.fields.alerts import AlertPatch, AlertRecord, NewAlert
from actors.messages.declaring import mirrored
from api.openapi.document import example_of
from extras.apply.kinds.alerts import KIND
from extras.apply.kinds.kind import Names
from sanderling.commands.alerts import alerts
from storage.records.alert import Alert

for kind in (NewAlert, AlertPatch, AlertForm, KIND.table, AlertRecord):
    assert "note" in kind.__struct_fields__, kind
for name in ("create", "edit"):
    assert "note" in {option.name for option in alerts.commands[name].params}, name
alert = Alert("a", "Prices", "price", "en", (), 0, 0, note="Mine")
assert form_of(alert).note == "Mine"
assert mirrored(alert, AlertRecord)["note"] == "Mine"
record = AlertRecord(**example_of(AlertRecord) | {"note": "Mine"})
assert KIND.there(record, Names()).values["note"] == "Mine"
assert KIND.body({"query": "price", "note": "Mine"}, {}, str)["note"] == "Mine"
assert KIND.defaults["note"] == ""
"""


OF_SOURCES = {
    "storage/records/source.py": (
        '    """Settings that never come from tags: the source\'s own value applies, or none."""\n',
        '\n    note: str = ""\n',
    ),
    "storage/records/tiers.py": ("""    "own_only",\n""", """    "note",\n"""),
    "actors/messages/requests.py": (
        '    verify: Literal["now", "later"] = "now"\n',
        '    note: Annotated[str, _texts("note", max_length=200)] = ""\n',
    ),
    "actors/messages/requests.toml": ('option = "--follow-host"\n', '\n[note]\nhelp = "Your own words on it."\n'),
    "api/openapi/words/sources.json": ('"wait_for": null,', '\n"note": "",'),
    "api/dashboard/templates/sources/options.html": (
        '{% macro naming(form, title="") %}\n',
        '{{ ui.field("note", say("Note"), value=form.note) }}\n',
    ),
}
FACES_OF_SOURCES = """
import msgspec
from actors.messages.declaring import mirrored
from actors.messages.requests import NewSource, SourcePatch, settings_of
from api.dashboard.forms import read_form
from api.dashboard.sources.one import Options, settings_in, shown_of
from api.fields.sources import SourceRecord
from api.openapi.document import example_of
from extras.apply.kinds.sources import KIND
from extras.apply.kinds.kind import Names
from sanderling.commands.sources import sources
from storage.records.source import Detection, Source

for kind in (NewSource, SourcePatch, SourceRecord, Options, KIND.table, KIND.record):
    assert "note" in kind.__struct_fields__, kind
for name in ("add", "edit"):
    assert "note" in {option.name for option in sources.commands[name].params}, name
url = "https://a.test/"
source = Source("a", url, url, "html", Detection("html", "high", "", "", ""), 0, 0, note="Mine")
assert settings_of(SourcePatch(note="Mine")) == {"note": "Mine"}
assert mirrored(source, SourceRecord)["note"] == shown_of(source)["note"] == "Mine"
assert settings_in(read_form({"note": ["Mine"]}, Options))["note"] == "Mine"
record = msgspec.convert(example_of(SourceRecord) | {"note": "Mine"}, KIND.record)
assert KIND.there(record, Names()).values["note"] == "Mine"
assert KIND.body({"url": "https://a.test/", "note": "Mine"}, {}, str)["note"] == "Mine"
assert KIND.defaults["note"] == ""
"""


@pytest.mark.real
@pytest.mark.parametrize(
    ("what", "edits", "faces"),
    [("A field of an alert", OF_ALERTS, FACES), ("A field of a source", OF_SOURCES, FACES_OF_SOURCES)],
)
def test_a_field_costs_the_files_of_the_walk(
    tmp_path: Path, what: str, edits: dict[str, tuple[str, str]], faces: str
) -> None:
    assert walk("Add a field", what) == [*edits]
    for room in (*ROOMS, "sanderling_client"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (line, more) in edits.items():
        path = tmp_path / name
        text = path.read_text("utf-8").replace(line, line + more)
        assert more in text, name
        path.write_text(text.replace(*SHOWN), "utf-8")
    ran = subprocess.run([sys.executable, "-c", faces], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
