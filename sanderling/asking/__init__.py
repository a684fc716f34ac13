"""What the commands `alerts`, `bins` and `sources` ask of a running service, and its answers in lines.

`naming.py` finds what a person means by a name, `speaking.py` is how to ask and how to make sure; each other file is a
group of commands. May import the client and what writes lines; nothing of the service itself.
"""
