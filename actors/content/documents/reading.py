"""The readers of files: PDF here, and those of extras."""

from __future__ import annotations

from typing import Final

from actors.content.documents.portable import read_pdf
from actors.content.documents.tree import Document
from actors.content.messages.readings import is_pdf
from actors.extras import always_on

# Now, not at the first file: a worker may open no file once it has a task.
_READERS: Final = tuple(extra.documents() for extra in always_on() if extra.documents is not None)


def read_document(body: bytes) -> Document | None:
    """Read a file; None if no reader fits. Raises ContentError if it is locked, damaged or larger than the bounds."""
    if is_pdf(body):
        return read_pdf(body)
    read = (reader(body) for reader in _READERS)
    return next((document for document in read if document is not None), None)
