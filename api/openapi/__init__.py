"""The description of the API for machines: OpenAPI 3.1 and JSON Schema, made from the routes and their types.

`api.route.Route` declares a route's types, scope, problems and headers. `words/` describes it with examples, in two
files per noun; tests fail for routes without a text. `document.py` makes it, `routes.py` serves it. `extras/reference`
renders the same document for people.
"""
