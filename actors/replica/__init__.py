"""The replica: a copy of the database in a folder, from which another machine can take over.

`parts.py` says what lies there and how it is read; `shipper.py` is the actor that puts it there.
"""
