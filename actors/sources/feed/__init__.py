"""The tier of feeds: entries that are new or edited, by their keys. Start with `reader.py`, then `seen.py`."""
