"""Bytes to text and text to a tree: encodings, gzip, markup, links, and small formats (frames, lists).

All of it is pure. Start with `encoding.py`, then `markup.py`.
"""
