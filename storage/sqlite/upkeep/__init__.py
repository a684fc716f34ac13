"""Work on a whole database: `copying.py`, `upgrade.py`, and `rotation.py`, which seals it with another key."""
