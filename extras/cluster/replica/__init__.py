"""The replica: a copy of the database in a place from which another machine can take over.

Start with `shipper.py`, the actor that writes it. `parts.py` defines its objects and reads them.
"""
