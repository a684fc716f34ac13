"""The command: the only reader of argv and the environment, and the place where the real world is made.

It may import every other room, and no room imports it. `cli.py` is the table of commands, `serve.py` runs the service,
`real_world.py` opens the real ports. Start with `cli.py`.
"""

from __future__ import annotations

__version__ = "0.1.0"
ADMIN_SOCKET = "admin.sock"
"""The name of the admin socket in the data folder."""
