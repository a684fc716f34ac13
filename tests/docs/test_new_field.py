"""The cost of a new field, measured: a copy of the product gets one, and every face of an alert has it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_walks import walk
from tests.rules.source_files import ROOT

EDITS = {
    "storage/records/alert.py": ("    managed: Managed | None = None\n", '    note: str = ""\n'),
    "api/fields/alerts.py": (
        "    private_source_ids: PrivateSources = ()\n",
        '    note: Annotated[str, Meta(max_length=200), option("Your own words on it.")] = ""\n',
    ),
    "api/openapi/words/alerts.json": ('"notice_after": 3600,', '\n"note": "",'),
    "api/dashboard/templates/alerts/form.html": (
        '<summary>{{ say("Channel and notices") }}</summary>\n',
        '{{ ui.field("note", say("Note"), value=form.note) }}\n',
    ),
}
"""Files of the walk: a line, and another to write below it."""
SHOWN = ("once_per_story created_at", "once_per_story note created_at")
FACES = """
import click
from api.dashboard.notifying.alert_form import AlertForm, form_of
from api.fields.alerts import AlertPatch, AlertRecord, NewAlert
from api.fields.declaring import mirrored
from api.openapi.texts import example_of
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


@pytest.mark.real
def test_a_field_of_an_alert_costs_the_files_of_the_walk(tmp_path: Path) -> None:
    assert walk("Add a field", "A field of an alert") == [*EDITS]
    for room in ("storage", "supervision", "actors", "api", "sanderling", "extras"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (line, more) in EDITS.items():
        path = tmp_path / name
        text = path.read_text("utf-8").replace(line, line + more)
        path.write_text(text.replace(*SHOWN), "utf-8")
    ran = subprocess.run([sys.executable, "-c", FACES], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
