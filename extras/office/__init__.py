"""PDF and the files of office programs as documents: DOCX, XLSX, ODT and ODS.

`reading.py` picks a reader, which builds a tree of plain HTML elements (`tree.py`): `pdf.py` with pypdf, the others by
the type that the archive declares. `archive.py` bounds everything: in `openpyxl` or `python-docx` a small file can
unpack to gigabytes. No setting switches it: each worker imports it when it starts.
"""

from __future__ import annotations

from actors.extras import Extra, member

EXTRA = Extra(documents=member("extras.office.reading", "read_office"))
