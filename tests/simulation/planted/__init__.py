"""Deliberate bugs in the product: a simulation that can't find them proves nothing.

One file for each room of the product (`log`, `streams`, `watching`, `delivering`); each plant replaces one attribute by
a plausible wrong version, within its context. `catalogue` lists them all, and
`tests/simulation/planted/test_planted.py` names a seed for each that finds it. May import every room.
"""
