"""The licences of all that comes with the program: `sanderling licences`, and the bill of materials.

`table.py` says which parts there are, under which licence, and where each text lies (pure data). `native.py` asks the
libraries for their versions, `parts.py` puts both together with what is installed, `command.py` shows it. `texts/` has
the texts that no installed package brings, one file each.

May import exits and program. Start reading with `table.py`.
"""
