"""Secrets at rest: the boxes and their keys (`vault.py`), and the sealed columns (`sealing.py`)."""
