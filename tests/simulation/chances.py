"""Generators by name, one for each consumer, so that a new one does not change the others' draws."""

from __future__ import annotations

import random


def chance(seed: str, name: str) -> random.Random:
    """Return the generator of a name; text seeds go through SHA-512, so PYTHONHASHSEED does not matter."""
    return random.Random(f"{seed}/{name}")  # must be predictable
