"""Messages between the service and a worker: requests, readings, hints. No parser is imported."""
