"""The whole product under a virtual clock, with faults and crashes drawn from a seed.

A seed gives a `program` (what users and origins do, and what goes wrong, as data); `run` boots the product's own
composition root on a `world` made from that seed and lives through it; `oracle` knows the promises of the product
and nothing of its code; `trace` is the readable timeline and its hash. Start with `command.py`, then `run.py`.
"""
