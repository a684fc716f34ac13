"""The kinds of records in files: one module each, and one table (`table.py`). Start with `kind.py`."""
