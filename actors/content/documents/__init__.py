"""Files that programs for offices write, as trees of headings, paragraphs, list items and tables.

`reading.py` has the table of readers and says which file is whose. A reader takes bytes and gives a tree of plain HTML
elements (`tree.py`), of which `pages` makes blocks as it does of a page. Everything has a bound: `archive.py`.

`openpyxl` and `python-docx` hold the whole model of a document in memory and bound nothing, and a small archive can
unpack to gigabytes. As a tree, a file needs no judge of its own: a difference names `Prices › Team · Fee`. Users select
a part by such labels, since they never see these elements.
"""
