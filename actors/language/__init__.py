"""The languages of people: English in code and templates, and a catalogue for each other language.

Catalogues are files in this folder: `sv.po` is Swedish, and a third language is one more file. Code and templates use
`speaking.py`; `catalogues.py` reads the files; `sentences.py` words messages (`storage.records.message`), and text by
its patterns (`patterns.txt`). The dashboard, mails and messages speak them. Start with `speaking.py`.
"""
