"""The languages of people: English in code and templates, and a catalogue for each other language.

Catalogues are files in this folder: `sv.po` is Swedish, and another language is one more file. Code and templates use
`speaking.py`; `catalogues.py` reads the files; `sentences.py` translates stored messages (`storage.records.message`),
and older texts by patterns (`patterns.txt`). The dashboard, mails and messages use it. Start with `speaking.py`.
"""
