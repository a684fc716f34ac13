"""Traces: the path of a change from the check to its delivery, as spans for a collector (OpenTelemetry).

The setting `otlp_endpoint` switches it on. Off, only `settings.py` is imported, and the core's reports do nothing. No
trace is stored. Trace and span ids are computed from ids already in the records (`identity.py`), so each actor
computes them itself, also after a restart and on another node.

Start with `observer.py`, which gets the core's reports (`actors/observer.py`), and `identity.py`; then `span.py` (the
record), `tracer.py` (the queue for all spans), and `exporter.py` (the actor that sends them to a collector).
"""

from __future__ import annotations

from actors.extras import Extra, calling

EXTRA = Extra(observer=calling("extras.tracing.observer", "TracingObserver"))
