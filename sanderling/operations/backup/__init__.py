"""Backup and restore.

A backup is one file (`archive.py`): the database without its secrets, the secrets sealed with the owner's master key,
settings and templates. `making.py` makes one while a service may be running, `restoring.py` replaces a data folder's
content, `upkeep.py` migrates and measures it. Start with `making.py`.
"""
