"""The standby: a copy of the database on a second machine, kept from the replica, and the take-over."""
