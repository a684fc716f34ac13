"""changedetection.io: its backup (a zip), `url-watches.json` of versions before 0.53, or one folder per watch.

`files.py` finds the JSON, `watches.py` makes a plan, `fields.py` lists the fields that only produce a note. Pure.
Its imports follow the other readers' rules.
"""
