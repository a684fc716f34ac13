"""The descriptions for machines, as documents; what generators and linters make of them: `tests/api/generators`."""
