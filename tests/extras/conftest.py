from __future__ import annotations

from tests.api.conftest import client
from tests.api.dashboard.conftest import browser, house, stranger

__all__ = ["browser", "client", "house", "stranger"]
