"""Sources that are asked again and again, whatever tier reads them.

`actor.py` is the life of such a source; how a body is read is its tier's (`actors/sources/tiers.py`).
"""
