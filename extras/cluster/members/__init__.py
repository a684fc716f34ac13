"""Several nodes on one storage: membership and ownership.

`ownership.py` computes this node's share and shares rate limits, `membership.py` sends its heartbeats. A single node
owns everything.
"""
