"""Makes the records and operations of both clients out of the description of the API.

`python -m clients.generate` writes them, from the code beside it; a test fails while they are stale. `model.py` reads
the OpenAPI document, `python.py` and `typescript.py` print what it found. What is written by hand knows no operation.
"""
