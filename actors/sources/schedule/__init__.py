"""The schedule of looks. `cadence.py` decides, and the others are its inputs.

`change_rate.py` predicts when a source changes, `look_price.py` and `budget.py` hold all looks together to the setting,
`stored.py` packs what was learned. `silence.py` knows how long a source is quiet, `overdue.py` whether looks happen at
all, `pause.py` stops them, `start_spread.py` spreads them after a start, `failure_delays.py` says when a failure is
told. Pure but for `pause.py` and `failure_delays.py`, which tasks wait on.
"""
