"""The description of the API for machines: OpenAPI 3.1 and JSON Schema, made from the routes and their types.

`api.route.Route` declares a route's types, scope, problems and headers. `texts/` describes it with examples, one file
per noun; tests fail for routes without a text. Start with `document.py` (the whole), then `answers.py` and
`parameters.py` (its parts) and `schemas.py` (served at `/schemas/`). `api.docs` renders the same document for people.
"""
