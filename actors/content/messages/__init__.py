"""Messages between the service and a worker: `requests.py` and `readings.py`. No parser is imported."""
