"""The command: it alone reads argv and the environment, and it builds the real world.

It may import every other room; no room imports it. Start with `cli.py`, the table of commands. `serve.py` runs the
service, `real_world.py` opens the real ports.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

__version__ = "0.1.0"
ADMIN_SOCKET = "admin.sock"
UNUSED = ("_elementtree", "anyio", "greenlet", "httpx._main", "pyexpat", "pygments", "rich", "typing_extensions")
"""Optional imports of libraries that the service never uses: 6 MB."""
EMPTY = ("pdb",)  # modules that a library imports in any case, and uses only in tests (click.testing)


@contextmanager
def without_unused() -> Iterator[None]:
    """Let `UNUSED` look absent, and `EMPTY` empty, to the modules that the block imports."""
    hidden: dict[str, Any] = dict.fromkeys(UNUSED) | {name: ModuleType(name) for name in EMPTY}
    hidden = {name: module for name, module in hidden.items() if name not in sys.modules}
    sys.modules.update(hidden)  # None: not to be imported
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
