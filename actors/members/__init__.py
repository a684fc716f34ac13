"""Several nodes on one storage: who is inside, and what is whose.

`ownership.py` says what is this node's, `membership.py` beats for it. A node alone owns everything.
"""
