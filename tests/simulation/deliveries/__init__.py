"""Everything between the log and receivers: a publisher, users' alerts, and receivers with their troubles.

A world with a `Correspondence` has no origins: a publisher sends events to the recorder, so that a seed takes a second
and a thousand can run. An operator manages alerts and destinations through the API; receivers on their own hosts answer
as their troubles require. May import the simulation's network, clients and program, and the product's messages. Start
with `stage.py`; `delivery_plans.py` outside this folder has the plans.
"""
