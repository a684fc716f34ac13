"""Changes, and the news among them: one look against what the source remembers of its page.

Start with `churn.py`, the decision; `news.py` weighs each block that came or went, `memory.py` is what is kept,
`diff.py` and `summary.py` say it to readers. All of it is pure.
"""
