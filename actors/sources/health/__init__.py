"""A source's health: its score (`score.py`) and its notices (`notices.py`)."""
