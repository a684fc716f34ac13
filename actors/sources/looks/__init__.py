"""The common parts of every check: the request, its effect on the source's memory, and its drafts."""
