"""The receiver's side of a delivery: `sanderling listen`, `verify` and `probe`.

What is decided is pure (`capture.py`, `ledger.py`, `answers.py`, `report.py`, `documents.py`, `cases.py`, `grades.py`)
and what does it is thin (`server.py`, `listen.py`, `verify.py`, `post.py`, `probe.py`, `published.py`). The checks
themselves are `actors/signatures/receipt.py`. It may import all below it. Start with `listen.py`.
"""
