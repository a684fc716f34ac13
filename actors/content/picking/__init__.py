"""Picking: the blocks of a page with what each is and holds, and the selector that chooses the one a person pressed.

Start with `picker.py`. `standing.py` knows in which element each block stands, `naming.py` which names of elements
last, `deriving.py` makes selectors of HTML of them; `in_json.py` and `in_lines.py` do it for other documents.
"""
