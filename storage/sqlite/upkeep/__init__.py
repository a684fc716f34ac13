"""Work on a whole database: copying, upgrading, rebuilding, sealing with another key."""
