from __future__ import annotations

from pathlib import Path

import pytest

from sanderling.environment import environ
from tests.extras.browser.real import MISSING


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents and item.path.name.startswith("test_real_"):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.real)


@pytest.fixture(scope="session")
def browser() -> None:
    """Skip without a browser; in CI, fail."""
    if MISSING:
        (pytest.fail if environ().get("CI") == "true" else pytest.skip)(MISSING)
