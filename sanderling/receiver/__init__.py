"""The receiver's side of a delivery: `sanderling listen`, `verify` and `probe`.

Decisions are pure (`capture.py`, `ledger.py`, `answers.py`, `report.py`, `documents.py`, `cases.py`, `grades.py`),
effects are thin (`server.py`, `listen.py`, `verify.py`, `post.py`, `probe.py`, `published.py`). The checks are in
`actors/signatures/receipt.py`. It may import everything below. Start with `listen.py`.
"""
