"""Sources that follow: each new item is reported once, with the text of its page, which is fetched once.

Waiting items are stored with the source's memory, in the transaction that marks them as seen: a crash neither loses
nor repeats an item. `waiting.py` decides and makes drafts; `polling/hops.py` fetches and reads the pages.
"""
