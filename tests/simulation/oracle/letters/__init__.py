"""The promises of deliveries, in worlds with a `Correspondence`: D1 to D14 of the project's numbered statements.

Start with `wanted.py` (the recipients of each event: D1); `attempts.py` is about single requests, `pace.py` about their
order, number and times, `digests.py` about windows, `standing.py` about disabled destinations. May import the
simulation's letters, facts and program.
"""
