"""The schedule of checks. `cadence.py` decides, and the others are its inputs.

`cadence.py` predicts when a source changes, packs that memory and spreads checks after a start; `budgets.py` keeps all
checks together within the setting. `silence.py` measures a source's silence and detects that checks have stopped,
`pause.py` stops them, `failure_delays.py` decides when to report a failure. Pure but for `pause.py` and
`failure_delays.py`, which tasks wait on.
"""
