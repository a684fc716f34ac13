"""Generators by name: one for each consumer, so that adding one does not move what the others draw."""

from __future__ import annotations

import random


def chance(seed: str, name: str) -> random.Random:
    """Return the generator of a name; text seeds go through SHA-512, so PYTHONHASHSEED does not matter."""
    return random.Random(f"{seed}/{name}")  # it must be predictable
