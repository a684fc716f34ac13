"""Which build of the program this is: `make binary` freezes a module that says so beside ours; a checkout has none."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

BUILD = "checkout"
"""The commit that a frozen program was built from."""

with suppress(ImportError):
    BUILD = import_module("sanderling_build").BUILD
