"""The replica: a copy of the database in a folder for another machine to take over from.

`parts.py` defines the objects in it and reads them; `shipper.py` is the actor that writes them.
"""
