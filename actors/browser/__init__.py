"""A browser that shows pages: Chromium on a pipe, confined, a fresh context for each page, one way out.

Pure: `wire.py`, `look.py`, `flags.py`. `holder.py` runs in the process that keeps the browser: it confines
it, and ends everything that the browser started. `held.py` is the service's side of that process,
`engine.py` one running browser, `pool.py` all of it behind the port `actors.world.Browser`. May import egress, whose
forward proxy is the browser's only way to any host. Start with `look.py`, one page from its opening to its end.
"""
