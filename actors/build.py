"""The build of this program. `make binary` freezes a module that names it; a checkout has none."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

BUILD = "checkout"
"""The commit of a frozen program."""

with suppress(ImportError):
    BUILD = import_module("sanderling_build").BUILD
