"""`sanderling listen`, `verify` and `probe`, the commands of the client's receiver kit.

The kit is `clients/python/src/sanderling_client/receiver/`, which the program carries. Here `probe` gets the address
guard, and the signing key of an instance. No setting switches it on: its commands run when typed.
"""

from __future__ import annotations

from actors.extras import Extra, members

EXTRA = Extra(commands=members("extras.receiver.commands", "listen", "verify", "probe"))
