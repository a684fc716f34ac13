"""The tests: folders mirror the rooms."""
