"""One declaration a noun: its fields with types, bounds, defaults and words.

Requests, answers, options of commands, forms, configuration files and exports come from it.
"""
