"""`sanderling try` shows the service to a newcomer: `tour.py` runs a private one, and walks through one change.

No setting switches it on: its command runs when typed.
"""

from __future__ import annotations

from actors.extras import Extra, members

EXTRA = Extra(commands=members("extras.tour.tour", "try_it"))
