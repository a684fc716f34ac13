"""Moving in from other programs."""
