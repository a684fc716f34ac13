"""Polled sources, of any tier.

`actor.py` is the life of such a source; its tier reads the bodies (`actors/sources/tiers.py`).
"""
