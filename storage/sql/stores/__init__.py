"""One store a noun, on the writer and the readers; `stores.py` makes all of them."""
