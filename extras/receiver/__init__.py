"""The receiver's side of a delivery: `sanderling listen`, `verify` and `probe`.

For developers of receivers. Decisions are in `capture.py`, `report.py` and `cases.py`, effects are thin (`server.py`,
`listen.py`, `verify.py`, `probe.py`, `published.py`). The checks are in `actors/signatures/receipt.py`. Start with
`listen.py`. No setting switches it on: its commands run when typed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.extras import Extra

if TYPE_CHECKING:
    import click


def _commands() -> tuple[click.Command, ...]:
    from extras.receiver.commands import listen, probe, verify

    return listen, verify, probe


EXTRA = Extra(commands=_commands)
