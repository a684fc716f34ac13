"""The operator's view of the service: the tree as rows, one part of it in full, the figures of the whole, the newest
changes and log lines; and acts on it.

It stands above the actors and reads their records in memory; nothing here is needed for the service to work. It imports
the registries of sources and deliveries. Start with `rows.py` (what a row says), then `overseer.py`.
"""
