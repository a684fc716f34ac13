"""One actor for each destination: it claims due deliveries, signs and posts them, and stores the outcomes.

Start with `actor.py` (a destination's life), then `claims.py` (its claims) and `registry.py` (the set of actors).
Pure: `schedule.py` (retry times, quiet hours, windows of digests). May import the layers below it in the order of the
import contract, but not its siblings.
"""
