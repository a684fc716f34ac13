"""The operations on each noun, for any face: one file a noun.

They take messages and return records: no HTTP, no HTML. The API's handlers (`api/v1`) and the dashboard's screens parse
their own requests, call one function here and render the result. Refusals are raised as `actors.errors` or
`api.problems`. Start with `context.py`, then `sources.py`.
"""
