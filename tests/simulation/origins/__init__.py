"""Scripted origins: machines that speak HTTP (`server`) with feeds and pages on them, WebSocket servers that push, and
a webhook receiver.

They play an `OriginPlan` of the program by their own true clock (virtual time from `EPOCH`; only the service's clock is
ever set), suffer the faults of their host (`troubles`), and record all requests, which the oracle judges. May import
the simulation's network and program, and records of storage. Start with `server.py`.
"""
