"""The words about each route, with examples, one file a noun.

`table.py` puts them together. A new route gets its entry here under its label (`GET /v1/things/{id}`); until it has
one, `tests/docs/test_api_described.py` fails and says what is missing. An answer's example is that of its type
(`api/openapi/example_records.py`), unless the entry shows another one.
"""
