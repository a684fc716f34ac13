"""Everything between the log and receivers: who says what, who asked for it, what receivers make of it.

A world with a `Correspondence` has no origins: a publisher puts events before the recorder, so that a seed costs a
second and a thousand can be run. An operator manages alerts and destinations through the API, receivers on hosts of
their own answer as their troubles have it. May import the simulation's network, clients and program, and the
product's messages.
Start with `stage.py`; `delivery_plans.py` beside this folder says what is drawn.
"""
