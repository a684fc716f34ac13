"""The times in which the service ran (`shifts.py`), and heartbeats: signed events (`heartbeat.py`), calls (`monitor.py`)."""
