"""Changes worth reporting: one check compared with the stored memory of the page.

Start with `churn.py`, the decision. `news.py` weighs each block that came or went, `memory.py` holds the stored state,
`diff.py` presents the change to readers. All of it is pure.
"""
