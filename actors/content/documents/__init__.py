"""Files that programs for offices write, as trees of headings, paragraphs, list items and tables.

`reading.py` has the table of readers and says which file is whose. A reader takes bytes and gives a tree of plain HTML
elements (`tree.py`), of which `pages` makes blocks as it does of a page. Everything has a bound: `archive.py`.
"""
