"""The shapes of version 1 on the wire: what is asked and what is answered, one file a noun.

A shape has no behaviour. `api/openapi` describes it, `api/v1` fills it, the dashboard shows it.
"""
