"""One actor for each destination: it claims what is due, signs and posts it, and settles what became of it.

Start with `actor.py` (a destination's life), then `claims.py` (what it has claimed), `attempt.py` (one signed POST) and
`registry.py` (the set of actors); `notice_publisher.py` has the notices about destinations. Pure are `schedule.py`
(when to try again), `status.py` (when a destination counts as failing or disabled), `digest.py` (windows), `quiet.py`
(hours). May import the layers below it in the order that the import contract gives; blind to its siblings.
"""
