"""Disposable worker processes for hostile bytes, with a deadline and a memory limit each.

Parsers written in C can't be interrupted: a tag of 300,000 attributes holds lxml for over a minute. Here the process
that it holds is killed and another takes its place. `framing.py`, `rights.py` and `worker.py` run in the worker and
import next to nothing; `process.py` is one worker as the service sees it, `pool.py` all of them, `inline.py` the same
port without processes. May import `actors.content.tasks` (in the worker), world, and supervision. Start reading with
`pool.py`.
"""
