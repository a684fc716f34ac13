"""The operations on a noun and its routes, one file a noun.

Operations take and return records, so that the dashboard calls them too; only routes know HTTP.
"""
