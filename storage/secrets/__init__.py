"""Secrets at rest: the master key, the boxes that hold them, and the columns that are boxes."""
