"""A whole instance as one file of JSON lines, and such a file as a new instance.

`lines.py` is the format (docs/moving.md describes it, docs/schemas/export.json is made of it by `schema.py`);
`inventory.py` says of each table of the storage where it travels, or that it does not. Out: `snapshot.py` ->
`writing.py`. In: `reading.py` (checks every line) -> `loading.py` (a folder is as it was, or holds all of it). May
import the storage, signatures and URLs; asks no service. Start with `lines.py`.
"""
