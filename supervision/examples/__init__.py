"""Three short programs that show the runtime; each runs with `python -m`, and the tests run all of them.

`counter` (mailbox, question, crash), `crowd` (many children, quarantine), `order` (start and stop in order,
escalation and exit code 70). They import only trio and the public API of `supervision`.
"""
