"""All messengers: the built-in ones, and those of a user's folder."""

from __future__ import annotations

from typing import Final

from actors.catalogue.catalogue import Reader
from actors.destination_kinds.messengers.checks import read_messenger

_READER: Final = Reader("kind", "actors.destination_kinds.messengers", "files", read_messenger)
built_in = _READER.built_in
with_folder = _READER.with_folder
