"""The libraries in `clients/`, against the real application and against every cut of a stream.

`log.py` is a log that is cut where a test wishes; `test_generated.py` holds what is generated against the description.
"""
