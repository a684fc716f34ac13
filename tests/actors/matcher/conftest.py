from __future__ import annotations

import pytest

from actors import matcher


@pytest.fixture(autouse=True)
def _saved_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save the cursor behind each event; a test of the delay sets its own."""
    monkeypatch.setattr(matcher, "SAVE_WITHIN", 0.0)
