"""The operator's view of the service: the tree as rows, one part in full, totals, recent changes, log lines, and acts.

It is above the actors and reads their records in memory; the service works without it. It imports the registries of
sources and deliveries. Start with `rows.py` (the content of a row), then `overseer.py`.
"""
