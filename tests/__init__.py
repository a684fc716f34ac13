"""The tests: folders mirror the rooms.

Property tests draw the same examples each time, and an example has no deadline: on a busy machine it would say nothing.
"""

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")
