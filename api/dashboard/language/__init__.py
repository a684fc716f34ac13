"""The languages of the dashboard: English in code and templates, and a catalogue for each other language.

Catalogues are files in this folder: `sv.po` is Swedish, and a third language is one more file. Code and templates use
`speaking.py`; `catalogues.py` reads the files; `sentences.py` translates sentences from other packages by their
patterns (`patterns.py`). May import whatever `api.dashboard` may. Start with `speaking.py`.
"""
