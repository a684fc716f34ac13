"""The description for people: the reference at `/docs`, and a page for each problem type.

Rendered on the server from the document of `/openapi.json` alone, without scripts, fonts or anything from elsewhere: it
works offline and in any browser, and find-in-page finds everything, since nothing is folded away. `html.py` builds
elements, so text can't become markup. Start with `reference.py`, then `operation.py`; `routes.py` serves.
"""
