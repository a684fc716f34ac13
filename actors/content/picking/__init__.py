"""Picking: a page's blocks with their kinds and values, and the selector for the one a person pressed.

Start with `picker.py`. `standing.py` knows the element of each block, `naming.py` which element names last,
`deriving.py` makes HTML selectors from them; `in_json.py` and `in_lines.py` do so for other documents.
"""
