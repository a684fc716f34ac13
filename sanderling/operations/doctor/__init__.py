"""`sanderling doctor`: an installation looked over, beside a running service, without one, and on a broken folder.

`checks.py` is the order of the questions and what happens when one breaks; `folder.py`, `database.py`, `machine.py`,
`names.py` and `network.py` ask them. Each takes a `Patient` and gives findings; none changes anything but a file of its
own that it deletes again. May import everything below the front door.
"""
