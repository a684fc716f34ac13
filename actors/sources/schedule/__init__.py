"""The schedule of checks. `cadence.py` decides, and the others are its inputs.

`change_rate.py` predicts when a source changes, `look_price.py` and `budget.py` keep all checks together within the
setting, `stored.py` packs the memory. `silence.py` measures a source's silence, `overdue.py` detects that checks have
stopped, `pause.py` stops them, `start_spread.py` spreads them after a start, `failure_delays.py` decides when to
report a failure. Pure but for `pause.py` and `failure_delays.py`, which tasks wait on.
"""
