"""The examples in docstrings are right."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from tests.rules.source_files import ROOMS, modules, name_of

WITH_EXAMPLES = [
    name_of(path)
    for path in modules(*ROOMS, "bench", "tests/simulation")
    if ">>> " in path.read_text("utf-8") and path.name != "__main__.py"
]


def test_every_example_gives_its_printed_result(subtests: pytest.Subtests) -> None:
    assert len(WITH_EXAMPLES) > 100
    for name in WITH_EXAMPLES:
        with subtests.test(name):
            module = import_module(name.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
            assert doctest.testmod(module).failed == 0
