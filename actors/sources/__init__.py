"""One watched URL: its life, its three tiers (feed, page, push), and the registry that owns the set.

Start with `polling/actor.py`. `tiers.py` is the table of the tiers, each a folder: `feed`, `page`, `push`. `ports.py`
is what each source's actor is given, `index.py` the sources in memory. The packages import one way, as contract 3 in
`pyproject.toml` lists them.
"""
