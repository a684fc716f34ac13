"""Live streams and exports: a reader with a filter and a cursor over the log, and its frames.

`streams.py` has the open streams and their loop, `reader.py` a stream's position in the log, `sse.py` its frames.
"""
