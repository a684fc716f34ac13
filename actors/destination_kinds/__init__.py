"""The kinds of destinations, and one table: a module or folder for each with code, a TOML file for each messenger.

Start with `kind.py`, which defines a kind, then `table.py`, which lists them. `webhook.py` is a kind in one file,
`email/` is a folder, and `messengers/` makes a kind of each of its TOML files.
"""
