"""Sources: their life, the three tiers (feed, page, push), and the registry that owns the set.

Start with `polling.py`. `tiers.py` is the table of the tiers `feed`, `page` and `push`. `ports.py` lists the ports of
each source's actor, `index.py` holds the sources in memory. The packages import one way, as contract 3 in
`pyproject.toml` lists them.
"""
