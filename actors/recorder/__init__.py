"""The only writer of the log: takes waiting harvests, assigns ids, signs, commits, wakes the tail.

Start with `actor.py`; `pruner.py` keeps the log within its bounds. May import the layers below it in the order of the
import contract, but not its siblings.
"""
