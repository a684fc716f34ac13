"""Every setting has one record and one sentence, and is set by its name."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.resources import files

import pytest

from actors.extras import setting_records
from actors.setting_table import declared, with_values
from actors.settings import Settings, declared_in
from extras.people.settings import PeopleSettings
from tests.rules.source_files import ROOT

RECORDS = (Settings, *setting_records())


def test_no_two_records_declare_the_same_name() -> None:
    assert len(declared()) == sum(len(declared_in(record)) for record in RECORDS)


@pytest.mark.parametrize("record", RECORDS)
def test_the_sentences_beside_a_record_are_those_of_its_settings(record: type[object]) -> None:
    text = files(record.__module__.rpartition(".")[0]).joinpath("settings.toml").read_text("utf-8")
    assert list(tomllib.loads(text)) == list(declared_in(record))


def test_a_value_is_set_by_its_name_and_the_others_stay() -> None:
    signs_in = {"auth_header": "Remote-User", "auth_default_role": "reader", "trusted_proxies": ("10.0.0.1/32",)}
    settings = with_values(with_values(Settings(), **signs_in), port=9, auth_default_role="editor")
    assert settings.port == 9 and settings.of(PeopleSettings).auth_default_role == "editor"
    assert settings.of(PeopleSettings).auth_header == "Remote-User"
    with pytest.raises(ValueError, match="trusted_proxies is not"):
        with_values(settings, trusted_proxies=())
    with pytest.raises(KeyError):
        with_values(settings, auth_headre="")


@pytest.mark.real
def test_settings_of_the_product_need_no_import_of_an_extra() -> None:
    probe = "import sys; from sanderling.environment import load; load({'port': '9'}, {'SANDERLING_HOST': '::1'}, None)"
    program = f"{probe}; print([name for name in sys.modules if name.startswith('extras')])"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
