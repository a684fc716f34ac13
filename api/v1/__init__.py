"""Version 1 of the API: one file a noun, each ending in the table of its routes.

`schemas.py` holds the wire shapes, from which requests are validated and `/openapi.json` is made. A handler takes a
`Call` and returns an `Answer`; what goes wrong is raised and becomes a problem document in `api/problems.py`. Start
with `sources.py`.
"""
