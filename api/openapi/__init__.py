"""The description of the API for machines: OpenAPI 3.1 and JSON Schema, made from the routes and their types.

What a route does is in its `api.route.Route`: types, scope, problems, headers. What is said about it, with examples, is
in `texts/`, one file a noun; a route without such a text does not pass the tests. Start with `document.py` (the
whole), then `answers.py` and `parameters.py` (its parts), `schemas.py` (what `/schemas/` serves).
`api.docs` renders the same document for people.
"""
