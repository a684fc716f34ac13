"""The first five minutes: any URL looked at, a practice page changed and noticed, and all of it taken along.

One page, `/first-steps`, to which every form returns; Today shows its beginning to who watches nothing yet. May import
what `api.dashboard` may. Start with `page.py`.
"""
