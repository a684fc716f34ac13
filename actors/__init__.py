"""The running system: sources that watch, the recorder that commits, the matcher, the deliveries.

Start with `system.py` (the whole tree), then follow one event: `sources/polling.py`, `sources/page.py`,
`recorder/actor.py`, `matcher.py`, `delivery/actor.py`. This package may import `supervision` and `storage`, never
`api` or `sanderling`. `world.py` holds every port to the outside.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

BUILD = "checkout"  # the commit of a frozen program: `make binary` freezes a module that names it

with suppress(ImportError):
    BUILD = import_module("sanderling_build").BUILD
