"""Words and figures as people write them: one spelling for comparison, dates in 40 locales, spans, fingerprints.

Nothing here knows what a page or a feed is. All of it is pure.
"""
