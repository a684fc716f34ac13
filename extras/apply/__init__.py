"""Configuration as files: `sanderling apply` makes a service match the files of a folder, and changes nothing else.

`reading.py` parses the files, `planning.py` compares them with the service, decides and prints, `acting.py` fetches
the service's records and executes. `kinds/` has one file and table row per kind of record. `writing.py` goes from
service to files. See docs/decisions/managed-records.md. No setting switches it on: its command runs when typed.
"""

from __future__ import annotations

from actors.extras import Extra, calling, members

EXTRA = Extra(
    commands=members("extras.apply.commands", "apply_folder"), as_files=calling("extras.apply.commands", "export_files")
)
