"""The standby: another machine's copy of the database, kept from the replica, and the take-over."""
