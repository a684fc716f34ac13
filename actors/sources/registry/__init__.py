"""The set of sources: one actor that reads one mailbox (`actor.py`), and what it does with each question.

What memory answers is answered in turn; the rest waits in `lanes.py` for storage or the network. `service.py` adds,
edits and deletes, `preview.py` shows what watching would tell, `practice.py` keeps the sources of practice.
"""
