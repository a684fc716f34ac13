"""The receiver's side of a delivery: `listen`, `verify` and `probe`, for developers of receivers.

Commands of `sanderling`, and of `sanderling-receiver` where only this package is installed, with the extra `cli`.
Decisions are in `receipt.py`, `capture.py`, `report.py` and `cases.py`, effects are thin (`server.py`, `listen.py`,
`checking.py`, `probe.py`, `published.py`). Start with `commands.py`.
"""
