"""Export a whole instance as one file of JSON lines, and import it into a new instance.

`reading.py` has the format (described in docs/moving.md and docs/schemas/export.json), with the tables that stay. Out:
`writing.py`. In: `reading.py` (checks every line), then `loading.py` (all or nothing). May import storage, signatures
and URLs; asks no service. Start with `reading.py`.
"""
