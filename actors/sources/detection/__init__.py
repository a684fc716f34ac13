"""Detection of a URL's tier by one polite check, even if the first one fails and a later one succeeds."""
