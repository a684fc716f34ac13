"""Programs drawn from seeds: `worlds` combines origins, faults and lives into a whole one.

Each thing has its own generator by name, so that a new one does not change the others' draws. May import the
simulation's `program` and `chances`. Start with `worlds.py`.
"""
