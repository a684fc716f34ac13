"""Commands of an installation beside the service: `sanderling install` and `uninstall` make the program a service of
the system, or of one user; `verify-release` checks downloaded files, `licences` lists the bundled software.

`plan.py` decides a list of acts from the locations (`layout.py`) and the present state; `--dry-run` prints it.
`units.py` has the texts of the files, also for the packages. These three are pure; `carrying_out.py` executes the plan.
`releases.py` and `licences.py` are the other two commands. Start with `plan.py`. No setting switches it on: its
commands run when typed.
"""

from __future__ import annotations

from actors.extras import Extra, members

EXTRA = Extra(commands=members("extras.install.commands", "install", "uninstall", "licences", "verify_release"))
