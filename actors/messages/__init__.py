"""All messages between actors, and from the front end to them.

Data flows left to right (source -> recorder -> matcher -> destination); commands come in from the right. A message
that wants an answer carries a one-shot `Reply`, made by `Mailbox.ask`. Records only. Start with `sources.py`, the
messages to the registry and the sources; `workers.py` has those to other actors, `requests.py` the requests inside
them, and `views.py` the answers.
"""
