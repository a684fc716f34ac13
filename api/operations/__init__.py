"""The operations on sources, alerts, destinations, bins, templates, events and streams, from any face.

A message comes in and a record goes out: no HTTP, no HTML. The API's handlers (`api/v1`) and the dashboard's screens
read their own request (JSON, a form), call one function here and show what came of it; what is refused is raised, as
`actors.errors` or `api.problems`. Start with `context.py`, then `sources.py`.
"""
