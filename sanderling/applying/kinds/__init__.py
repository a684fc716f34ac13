"""The kinds of things that files may describe: a file each, and one table (`table.py`)."""
