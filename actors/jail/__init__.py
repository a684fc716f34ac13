"""Disposable worker processes for hostile bytes, with a deadline and a memory limit each.

Parsers written in C can't be interrupted: a tag of 300,000 attributes holds lxml for over a minute. Here the process is
killed and another takes its place. `parent.py` and `rights.py` run in the processes, `framing.py` everywhere;
`parent_process.py` is the service's side of them, `pool.py` of all workers. May import the tasks of others (in the
worker), world, and supervision. Start reading with `pool.py`.
"""
