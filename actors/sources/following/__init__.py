"""Sources that follow: each new item is told once, with the text of its own page, which is fetched once

What waits is stored beside the source's memory, in the transaction that knows the item as seen: no crash loses an
item, and none tells it twice. `waiting.py` decides, `hop.py` fetches and reads one page, `telling.py` makes drafts.
"""
