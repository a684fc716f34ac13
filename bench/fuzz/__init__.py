"""Fuzzers: what strangers send is drawn, and whatever comes must be read or refused in words.

Start in `targets.py`, the one table: what is drawn, and what must hold. `chance.py` draws: structures first, then good
examples that are bent (`examples.py`); bytes without any form come last, as most of them are refused at the door.
`python -m bench.fuzz` runs them for as long as one likes; tests/bench/test_fuzz.py runs so many cases of each.
"""
