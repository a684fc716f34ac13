"""Detection of a URL's tier by one polite check, or later if that fails. Start with `classify.py`."""
