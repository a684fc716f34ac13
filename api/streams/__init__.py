"""Live streams and exports: a reader with a filter and a cursor over the log, and its frames.

Start with `reader.py`, a stream's position in the log; `streams.py` has the open streams, `sse.py` their frames.
"""
