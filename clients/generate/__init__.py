"""Makes the records and operations of both clients out of the description of the API.

`make clients` writes them; Git ignores them. Releases, `make lint` and the tests write them first. `model.py` reads
the OpenAPI document, `python.py` and `typescript.py` print the code. The parts written by hand know no operation.
"""
