"""The libraries in `clients/`, against the real application and against every cut of a stream.

`log.py` is a log that tests can cut; `test_generated.py` compares the generated code with the API description.
"""
