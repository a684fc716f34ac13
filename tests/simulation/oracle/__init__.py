"""The promises of the product as checks over facts visible from outside, one file for each part that promises.

It knows nothing of the product's code. Each check yields sentences about broken promises. The run also waits for `owed`
before it ends the world: a debt that is left when patience runs out breaks the promise of liveness. May import the
simulation's facts, program and origins. Start with `promises.py`, the table of all.
"""
