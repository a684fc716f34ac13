"""Commands that have a file of their own, by noun: `keys.py` is about API keys, `signing.py` about the keys
that sign events, `receivers.py` is for those who receive deliveries, `templates.py` for those who write templates.

They may import all that `sanderling/cli.py` may, which puts them into the table of commands. As there, what a command
needs is imported when it runs, so that `--help` is quick.
"""
