"""Version 1 of the API: one file per noun, each ending in its table of routes.

`api/schemas` has the wire shapes that validate requests and generate `/openapi.json`. A handler takes a `Call` and
returns an `Answer`; errors are raised, and `api/problems.py` turns them into problem documents. Start with
`sources.py`.
"""
