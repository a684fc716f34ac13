"""A page in one check: its blocks, their kinds and places, and whether it is a page at all.

Start with `page.py`; `blocks.py` builds the blocks from the output of `walk.py`. All of it is pure.
"""
