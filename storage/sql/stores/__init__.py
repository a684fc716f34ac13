"""The SQL stores, one per noun, on the writer and the readers; `stores.py` makes all of them."""
