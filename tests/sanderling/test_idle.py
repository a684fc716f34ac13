"""The service process loads no parser: those are the workers' (bench/idle.py measures its memory)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.rules.source_files import ROOT

PARSERS = {"lxml.etree", "feedparser", "justext", "charset_normalizer", "actors.content.tasks", "actors.jail.tasks"}


@pytest.mark.real
def test_a_service_that_has_started_has_loaded_no_parser() -> None:
    program = f"import sys; import sanderling.serve; print(sorted({PARSERS!r} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
