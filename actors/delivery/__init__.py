"""One actor for each destination: it claims due deliveries, signs and posts them, and stores the outcomes.

Start with `actor.py` (a destination's life), then `claims.py` (its claims), `attempt.py` (one signed POST) and
`registry.py` (the set of actors). Pure: `schedule.py` (retry times, quiet hours) and `digest.py` (windows). May
import the layers below it in the order of the import contract, but not its siblings.
"""
