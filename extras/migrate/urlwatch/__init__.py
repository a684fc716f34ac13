"""urlwatch and webchanges: the YAML of their jobs. The programs are related and share most directives.

`jobs.py` makes sources from jobs, `filters.py` translates filter chains, `reporters.py` makes destinations from
reporters. Commands are never run. Pure; imports follow the other readers' rules.
"""
