"""The man page."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from click import Group

from extras.manual.references import tree
from release.man import ENDS, man_page
from sanderling.exits import Exit
from tests.rules.source_files import ROOT


def test_the_man_page_has_every_command_and_every_exit_code() -> None:
    shown = man_page().replace("\\-", "-")
    assert [name for name, command in tree() if not isinstance(command, Group) and f".SS {name}" not in shown] == []
    assert set(ENDS) == set(Exit)


def test_the_man_page_is_the_same_each_time_and_names_no_place() -> None:
    assert man_page() == man_page()
    assert str(ROOT) not in man_page()


@pytest.mark.real
def test_groff_reads_the_man_page_without_a_warning() -> None:
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z"], input=man_page().encode(), capture_output=True, timeout=30, check=True
    )
    assert done.stderr == b""
