"""The command: it alone reads argv and the environment, and it builds the real world.

It may import every other room; no room imports it. Start with `cli.py`, the table of commands. `serve.py` runs the
service, `real_world.py` opens the real ports.
"""

from __future__ import annotations

__version__ = "0.1.0"
ADMIN_SOCKET = "admin.sock"
