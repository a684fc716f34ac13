"""Scripted origins, one file for each kind: `feeds`, `pages`, a WebSocket server that pushes, a webhook receiver.

They play an `OriginPlan` of the program by their own true clock (virtual time from `EPOCH`; only the service's
clock is ever set), suffer the HTTP faults of their host, and remember what was asked of them, which is what the
oracle judges. May import the simulation's network and program, and records of storage. Start with `server.py`.
"""
