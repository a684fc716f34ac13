"""Feeds as entries, whatever their format (RSS, Atom, JSON Feed), and sitemaps. All pure. Start with `feeds.py`."""
