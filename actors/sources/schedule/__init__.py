"""The schedule of checks. `cadence.py` decides, and the others are its inputs.

`cadence.py` predicts when a source changes, packs that memory and spreads checks after a start; `budgets.py` keeps all
checks together within the setting. `silence.py` measures a source's silence and detects that checks have stopped. Pure
but for `pause.py`, which tasks wait on: it stops checks, and decides when to report a failure.
"""
