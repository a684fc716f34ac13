"""The receiver's side of a delivery: `sanderling listen`, `verify` and `probe`.

For developers of receivers. Decisions are in `capture.py`, `report.py` and `cases.py`, effects are thin (`server.py`,
`listen.py`, `verify.py`, `probe.py`, `published.py`). The checks are in `actors/signatures/receipt.py`. Start with
`listen.py`. No setting switches it on: its commands run when typed.
"""

from __future__ import annotations

from actors.extras import Extra, members

EXTRA = Extra(commands=members("extras.receiver.commands", "listen", "verify", "probe"))
