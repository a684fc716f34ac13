"""Programs drawn from seeds: `worlds` puts a whole one together, of origins, faults and lives.

Each thing has its own generator by name, so that adding one does not move what the others draw. May import the
simulation's `program` and `chances`. Start with `worlds.py`.
"""
