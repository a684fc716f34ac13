"""Feeds: RSS, Atom and JSON Feed as entries, whatever their format. All of it is pure. Start with `feeds.py`."""
