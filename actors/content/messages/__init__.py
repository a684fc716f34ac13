"""What crosses the border between the service and a worker: requests, readings, hints. It imports no parser."""
