"""What can be done to alerts and destinations, whoever asks: the API's handlers and the dashboard's screens.

Here is what a request means once it is understood: checks, changes, and what must be told of them. A face reads its own
request (JSON, a form), calls one function here and shows what came of it; what is refused is raised, as `actors.errors`
or `api.problems`. May import the app context, storage, and the shapes of `api.schemas`; no handler and no screen. Start
with `context.py`, then `alerts.py`.
"""
