from __future__ import annotations

from tests.extras.cluster.conftest import patient

__all__ = ["patient"]  # the contract suite runs on PostgreSQL, too
