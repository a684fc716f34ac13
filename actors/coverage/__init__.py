"""The times when the service ran (`shifts.py`), and heartbeats (`heartbeat.py`)."""
