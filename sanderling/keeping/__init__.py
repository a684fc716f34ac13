"""Keeping an instance for years: backup and restore, the self-test of a build, the check-up of an installation.

A backup is one file (`archive.py`): the database without its secrets, the secrets sealed with the owner's master key
(`seal.py`), settings and templates. `making.py` writes one beside a running service, `restoring.py` puts one in the
place of what there is. May import everything below the front door. Start with `making.py`.
"""
