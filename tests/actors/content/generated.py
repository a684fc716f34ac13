"""Babel, the source of examples in 40 locales: only the generator and the tests need it."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import pytest


def babel_or_skip() -> Any:
    try:
        return import_module("babel")
    except ModuleNotFoundError:
        if os.environ.get("CI") == "true":  # noqa: TID251  tests may know where they run
            pytest.fail("Babel is not installed.")
        pytest.skip("Babel is not installed: `make setup`.")
