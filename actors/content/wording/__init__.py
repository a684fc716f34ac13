"""Words and figures as people write them: one spelling for comparison, dates in 40 locales, spans, fingerprints.

Nothing here knows about pages or feeds. All of it is pure. Start with `canonical.py`.
"""
