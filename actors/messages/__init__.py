"""All that travels between actors, and from the front end to them.

Data flows left to right (source -> recorder -> matcher -> destination); commands come in from the right. A message that
wants an answer carries a one-shot `Reply`, made by `Mailbox.ask`. Nothing here does anything. One file for each that is
asked (`sources.py`, `recorder.py`, `matcher.py`, `destinations.py`); what they answer is in `views.py`.
"""
