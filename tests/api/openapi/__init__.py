"""The descriptions as documents; `tests/api/generators` covers generators and linters."""
