"""The languages of the dashboard: English as it is written in code and templates, and a catalogue for each other one.

A catalogue is a file of this folder: `sv.po` has Swedish, and a third language is one more file. `speaking.py` is what
code and templates say with, `catalogues.py` reads the files, `sentences.py` knows sentences again that other rooms
wrote (`patterns.py`).
May import what `api.dashboard` may. Start with `speaking.py`.
"""
