"""Picking: a page's blocks with their kinds and values, and the selector for the one a person pressed.

Start with `picker.py`. `rebuilding.py` knows the element of each block, `deriving.py` makes HTML selectors of
the names that last, `in_documents.py` does so for other documents.
"""
