"""Import from other programs: their files become sources and alerts, with an honest report.

A reader is a pure function from a file's bytes to a `Plan`. For each item it reports whether the result is exact,
approximated (and how) or impossible (and why). `execution.py` prints a plan and executes it through a running service.
Start with `drafting.py`, then `reading.py` (the table of readers). Readers may import `actors.content`,
`actors.egress.url` and `actors.query`, nothing with effects. No setting switches it on: its commands run when typed.
"""

from __future__ import annotations

from actors.extras import Extra, members

EXTRA = Extra(commands=members("extras.migrate.commands", "import_command", "export_command"))
