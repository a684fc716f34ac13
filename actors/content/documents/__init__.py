"""Files of office programs, as trees of headings, paragraphs, list items and tables.

`reading.py` picks a reader, which turns bytes into a tree of plain HTML elements (`tree.py`); `pages` reads it like a
page. `archive.py` bounds everything: in `openpyxl` or `python-docx` a small file can unpack to gigabytes.
"""
