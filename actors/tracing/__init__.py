"""Traces: the path of a change from the check to its delivery, as spans for a collector (OpenTelemetry).

Off unless `otlp_endpoint` is set: then there is no `Tracer`, and its users get None. No trace is stored. Trace and
span ids are computed from ids already in the records (`identity.py`), so each actor computes them itself, also
after a restart and on another node.

Start with `identity.py`; then `span.py` (the record), `tracer.py` (the queue for all spans), `steps.py` (the steps of
one check), `otlp.py` (the bytes for a collector, and its answers). `actors/span_exporter.py` sends them. It imports the
records of storage, and Trio for its clock.
"""
