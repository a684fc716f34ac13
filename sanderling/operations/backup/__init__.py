"""Backup and restore.

A backup is one file (`archive.py`): the database without its secrets, the secrets sealed with the owner's master key,
settings and templates. `making.py` writes one beside a running service, `restoring.py` puts one in the place of what
there is. Start with `making.py`.
"""
