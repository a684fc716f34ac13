"""The dashboard's Sources: the list, adding (by pasting, from a list of feeds), and one source with all that is known.

Each module has its screens and what they show; `words.py`, `ticks.py`, `timeline.py` and `options.py` are pure. May
import what `api.dashboard` may. Start with `listing.py`.
"""
