"""The licences of everything that ships with the program: `sanderling licences`, and the bill of materials.

`table.py` lists parts, licences and texts (pure data). `native.py` asks libraries for their versions, `parts.py`
combines both with the installed packages. `making.py` writes the list that the program reads
(`extras/install/licences.py`), `freezing.py` is for the frozen program. `texts/` has the texts that no package
includes, one file each. Start with `table.py`.
"""
