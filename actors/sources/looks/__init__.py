"""The common parts of every look: the request, its effect on the source's memory, and the drafts that come of it."""
