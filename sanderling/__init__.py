"""The command: it alone reads argv and the environment, and it builds the real world.

It may import every other room; no room imports it. Start with `cli.py`, the table of commands. `serve.py` runs the
service, `real_world.py` opens the real ports.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__version__ = "0.1.0"
ADMIN_SOCKET = "admin.sock"
UNUSED = ("_elementtree", "anyio", "greenlet", "httpx._main", "pyexpat", "pygments", "rich", "typing_extensions")
"""Optional imports of libraries that the service never uses: 6 MB."""


@contextmanager
def without_unused() -> Iterator[None]:
    """Let `UNUSED` look absent to the modules that are imported meanwhile."""
    hidden = [name for name in UNUSED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: not to be imported
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
