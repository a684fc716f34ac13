"""The whole product under a virtual clock, with faults and crashes drawn from a seed.

A seed gives a `program` (users' and origins' actions and all faults, as data); `run` boots the product's own
composition root on a `world` made from that seed and plays it; `oracle` checks the product's promises and knows nothing
of its code; `trace` is the readable timeline and its hash. Start with `command.py`, then `run.py`.
"""
