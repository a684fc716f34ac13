"""A source's health: its score and its notices."""
