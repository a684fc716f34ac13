"""All templates: the built-in ones, and those of a user's folder."""

from __future__ import annotations

from typing import Final

from actors.catalogue.catalogue import Reader
from actors.templates.template import read_template

_READER: Final = Reader("template", "actors.templates", "builtin", read_template)
built_in = _READER.built_in
with_folder = _READER.with_folder
