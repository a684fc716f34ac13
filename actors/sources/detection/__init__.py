"""Detection of a URL's tier by one polite look, also when that look failed and a later one answers."""
