"""The wire shapes of version 1: requests and answers, one file per noun.

A shape has no behaviour. `api/openapi` describes it, `api/v1` fills it, the dashboard shows it.
"""
