"""The tier of pages: compares a page's text with the settled one. Start with `reader.py`."""
