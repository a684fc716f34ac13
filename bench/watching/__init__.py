"""Scripted histories of pages for `bench.watch`: documents, frames that show them, and what happens to them.

Start in `histories.py`. A document (`documents.py`) is what a page says, written in a language (`languages/`) about a
noun (`nouns.py`: careers, prices, a status page, ...). `changes*.py` say what a reader wants to hear of, `silences*.py`
what nobody does; each look is labelled there, before any judge runs. `frames.py` deals the markup: shells around the
content and styles of its lists, rows and cards. Nothing in here knows how the product judges.
"""
