"""Fuzzers: foreign input is drawn at random, and must be read or refused with a message.

Start with `targets.py`, the table of inputs and required properties. `chance.py` draws structures first, then
corrupted examples (`examples.py`); formless bytes come last, since most are refused at once. `python -m bench.fuzz`
runs them for any time; tests/bench/test_fuzz.py runs a fixed number of cases each.
"""
