"""The dashboard's Sources: the list, adding (by pasting or from a list of feeds), and one source in full.

Each module has its screens and their values; `words.py`, `ticks.py`, `timeline.py` and `options.py` are pure. May
import whatever `api.dashboard` may. Start with `listing.py`.
"""
