"""Several processes for one service: nodes on one PostgreSQL database, or a standby that follows a replica."""
