"""Live streams and exports: a reader with a filter and a cursor over the log, and the frames it makes.

`streams.py` has the open ones and their loop, `reader.py` a stream's place in the log, `sse.py` its frames.
"""
