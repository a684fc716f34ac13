"""The licences of everything that ships with the program: `sanderling licences`, and the bill of materials.

`table.py` lists parts, licences and texts (pure data). `native.py` asks libraries for their versions, `parts.py`
combines both with the installed packages, `command.py` prints them. `texts/` has the texts that no package includes,
one file each. May import exits and program. Start with `table.py`.
"""
