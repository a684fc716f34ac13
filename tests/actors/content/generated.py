"""Babel, from which examples of 40 locales are made: only the generator and the tests need it."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import pytest


def babel_or_skip() -> Any:
    """Return the module; where it is not installed, skip the test, and fail where CI is true."""
    try:
        return import_module("babel")
    except ModuleNotFoundError:
        if os.environ.get("CI") == "true":  # noqa: TID251  tests may know where they run
            pytest.fail("Babel is not installed.")
        pytest.skip("Babel is not installed: `make setup`.")
