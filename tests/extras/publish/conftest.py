from __future__ import annotations

from tests.api.conftest import client, house
from tests.api.dashboard.conftest import browser

__all__ = ["browser", "client", "house"]
