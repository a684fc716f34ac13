"""The texts of all routes, with examples, one file per noun.

`api/openapi/nouns.py` puts them together. Add a new route's text under its label (`GET /v1/things/{id}`);
`tests/docs/test_api_described.py` fails without one. An answer's example is that of its type
(`api/openapi/example_records.py`), unless the text shows another one.
"""
