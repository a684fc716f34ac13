"""Work on a whole database: `copying.py`, and `upgrade.py`, which also seals it with another key."""
