"""`sanderling install` and `uninstall`: the program laid out as a service of the system, or of one user.

What is to be done is one list of acts, made by `plan.py` from where things go (`layout.py`) and what is there already;
`--dry-run` prints it, `carrying_out.py` does it. `unit.py` has the texts of the files, for the packages too. These
three are pure. May import exits, environment and program. Start reading with `plan.py`.
"""
