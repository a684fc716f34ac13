"""The test inbox."""
