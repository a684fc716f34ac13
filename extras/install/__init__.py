"""Commands of an installation: `sanderling install` and `uninstall` make the program a service of the system, or of one
user; `licences` lists the bundled software.

`plan.py` decides a list of acts from the locations and the present state; `--dry-run` prints it. `units.py` has the
locations and the texts of the files, also for the packages. Both are pure; `execution.py` executes the plan.
Start with `plan.py`. No setting switches it on: its commands run when typed.
"""

from __future__ import annotations

from actors.extras import Extra, members

EXTRA = Extra(commands=members("extras.install.commands", "install", "uninstall", "licences"))
