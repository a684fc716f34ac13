"""A page as one look sees it: its blocks, what each is, where it stands, and whether it is a page at all.

Start with `page.py`; `blocks.py` makes the blocks of what `walk.py` reads. All of it is pure.
"""
