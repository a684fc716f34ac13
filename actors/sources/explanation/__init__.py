"""Explanations for users: why a text was or was not reported, and the parts of a score.

`actors/sources/registry/explainer.py` collects the facts, `sentences.py` words them, `score.py` explains health and the
next check.
"""
