"""Why something was told, or was not, and what a score is made of: for the people who ask.

`registry/explainer.py` finds out, `sentences.py` says it, `score.py` takes a source's health and next look apart.
"""
