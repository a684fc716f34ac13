"""What every look has in common: the request, its effect on the source's memory, and the drafts that come of it."""
