"""What a URL is, found out by one polite look, also when that look failed and a later one answers."""
