"""Several nodes on one storage: membership and ownership.

`membership.py` computes this node's share, shares rate limits and sends its heartbeats. A single node owns everything.
"""
