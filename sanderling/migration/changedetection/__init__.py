"""changedetection.io: its backup (a zip), `url-watches.json` of before version 0.53, or a folder for each watch.

`files.py` finds the JSON in what is given, `watches.py` makes a plan of it, `fields.py` is the table of what is only
told of. Pure; may import what the other readers may.
"""
