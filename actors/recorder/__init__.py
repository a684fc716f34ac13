"""The only writer of the log: takes what harvests wait, gives ids, signs, commits, wakes the tail.

Start with `actor.py`. May import the layers below it in the order that the import contract gives; blind to its
siblings.
"""
