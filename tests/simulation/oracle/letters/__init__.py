"""The promises of deliveries, in worlds with a `Correspondence`: D1 to D14 of the project's numbered statements.

Start with `wanted.py` (who must get what: D1); `attempts.py` is about single requests, `pace.py` about their order,
number and times, `digests.py` about windows, `standing.py` about destinations that are disabled. May import the
simulation's letters, facts and program.
"""
