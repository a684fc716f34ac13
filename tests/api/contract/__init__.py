"""The service against its own description: a generator of requests and states reads `/openapi.json` and attacks it."""
