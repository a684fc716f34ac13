"""A browser that shows pages: Chromium on a pipe, shut in, a fresh context for each page, one way out.

Pure: `wire.py`, `look.py`, `flags.py`, `words.py`. `holder.py` runs in the process that keeps the browser: it makes the
walls, and lets nothing of the browser outlive it. `held.py` is that process as the service sees it, `engine.py` one
running browser, `pool.py` all of it behind the port `actors.world.Browser`. May import egress, whose forward proxy is
the browser's only way to any host. Start reading with `look.py`, which is one page from its opening to its end.
"""
