"""Heartbeats: requests to an external monitor (`monitor.py`), and signed events in the log (`beat.py`)."""
