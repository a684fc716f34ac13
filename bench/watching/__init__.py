"""Scripted histories of pages for `bench.watch`: documents, frames that render them, and their changes.

Start in `histories.py`. A document (`documents.py`) is a page's content, written in a language (`languages/`) about a
noun (`nouns.py`: careers, prices, a status page, ...). `changes*.py` contain changes that a reader wants reported,
`silences*.py` changes that are noise; each check is labelled there, before any judge runs. `frames.py` deals the
markup: shells around the content and styles of its lists, rows and cards. Nothing here knows how the product judges.
"""
