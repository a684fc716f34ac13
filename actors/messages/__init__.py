"""All messages between actors, and from the front end to them.

Data flows left to right (source -> recorder -> matcher -> destination); commands come in from the right. A message
that wants an answer carries a one-shot `Reply`, made by `Mailbox.ask`. Records only. The registry and the
sources get `sources.py`, every other actor `workers.py`; answers are in `views.py`.
"""
