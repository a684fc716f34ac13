"""Secrets at rest: the master key, the boxes they lie in, and which columns are boxes."""
