"""Practice: its routes and the first steps."""
