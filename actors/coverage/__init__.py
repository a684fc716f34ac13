"""The times of the service (`shifts.py`), and heartbeats: signed events (`heartbeat.py`), calls (`monitor.py`)."""
