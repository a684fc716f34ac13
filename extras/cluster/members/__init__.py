"""Several nodes on one storage: membership and ownership.

`ownership.py` computes this node's share, `membership.py` sends its heartbeats, `usage.py` shares rate limits. A single
node owns everything.
"""
