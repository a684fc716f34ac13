"""Moving in from other programs: what their files hold, as sources and alerts of ours, with an honest report.

A reader is a pure function from the bytes of a file to a `Plan`; it says of each thing it met whether it is carried
over exactly, approximately (and how) or not at all (and why). `report.py` shows a plan, `carrying_out.py` carries it
out through a running service. Start with `plan.py`, then `reading.py` (which reader reads what). The readers may import
`actors.content`, `actors.egress.url` and `actors.query`, and nothing that has an effect.
"""
