"""The replica: a copy of the database in a place from which another machine can take over.

Start with `shipper.py`, the actor that writes it. `shipping.py` takes the commits out of SQLite's write-ahead log
(`log.py`), `parts.py` defines the replica's objects and reads them, `place.py` keeps them.
"""
