"""One watched URL: its life, its three tiers (feed, page, push), and the registry that owns the set.

Start with `actor.py`. May import the layers below it in the order that the import contract gives; blind to its
siblings.
"""
