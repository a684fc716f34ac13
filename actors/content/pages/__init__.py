"""A page in one check: its blocks, their kinds and places, and whether it is a page at all.

Start with `page.py`; `blocks.py` walks the tree and builds the blocks. All of it is pure.
"""
