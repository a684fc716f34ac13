"""The first five minutes: preview any URL, change a practice page and see its event, then use it elsewhere.

All forms return to one page, `/first-steps`; Today shows its beginning to users without sources. May import whatever
`api.dashboard` may. Start with `page.py`.
"""
