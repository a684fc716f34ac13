"""The SQL stores, one per noun, on the writer and the readers; `storage/sql/storage.py` makes all of them."""
