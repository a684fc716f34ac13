"""Files of other programs, as trees of headings, paragraphs, list items and tables.

`reading.py` reads PDF and picks a reader, which turns bytes into a tree of plain HTML elements (`tree.py`); `pages`
reads it like a page. `sitemaps.py` reads sitemaps; an extra (`extras/office/`) reads the files of office programs.
"""
