"""A source's health: its score, and the notices that say so."""
