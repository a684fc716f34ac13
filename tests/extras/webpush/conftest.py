from __future__ import annotations

from tests.api.dashboard.conftest import browser, house

__all__ = ["browser", "house"]
