"""Bytes to text and text to a tree: encodings, packed bodies, mark-up, links; and the small formats (frames, lists).

All of it is pure.
"""
