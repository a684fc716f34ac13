"""Files of office programs as documents: DOCX, XLSX, ODT and ODS.

`reading.py` picks a reader by the type that the archive declares. `archive.py` bounds everything: in `openpyxl` or
`python-docx` a small file can unpack to gigabytes. No setting switches it: each worker imports it when it starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from actors.extras import Extra

if TYPE_CHECKING:
    from actors.content.documents.tree import Document


def _documents() -> Callable[[bytes], Document | None]:
    from extras.office.reading import read_office

    return read_office


EXTRA = Extra(documents=_documents)
