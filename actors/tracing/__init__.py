"""Traces: the way of a piece of news from the look to its delivery, as spans for a collector (OpenTelemetry).

Off unless `otlp_endpoint` is set: then there is no `Tracer`, and whoever could tell something finds None. Nothing of a
trace is stored. Its id and those of its spans are made of ids that are in the records already (`identity.py`), so each
actor knows them by itself: after a restart, and on another node.

Start with `identity.py`; then `span.py` (what a span is), `tracer.py` (the queue that all put spans into), `steps.py`
(what happens within one look), `otlp.py` (the bytes for a collector, and its answers). `actors/span_exporter.py` sends
them. It imports the records of storage, and Trio for its clock.
"""
