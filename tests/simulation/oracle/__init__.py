"""The promises of the product as checks over what was seen from outside, one file for each part that promises.

It knows nothing of the product's code. Each check yields sentences that say what broke and where. `owed` is also what
the run waits for before it ends the world: whoever still owes something when patience runs out has broken the promise
of liveness. May import the simulation's facts, program and origins. Start with `promises.py`, the table of all.
"""
