"""The service against its own description: schemathesis reads `/openapi.json` and generates requests."""
