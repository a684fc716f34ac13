"""`sanderling doctor`: check an installation, with or without a running service, even a broken folder.

`checks.py` runs the checks in order and survives failing ones; `machine.py`, `database.py` and `network.py` contain
them. Each takes a `DoctorContext` and yields findings; none changes anything except temporary files. May import
everything below the commands.
"""
