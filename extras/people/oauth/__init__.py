"""OAuth 2.1 for apps that act for a person: assistants that speak MCP, and clients of the API.

The service is its own authorization server. `tokens.py` has the rules for codes and tokens. `endpoint.py` has those
for apps and their redirect URIs, and answers programs: metadata, registration, tokens. `screens.py` asks the person
and lists connected apps; `operations.py` does the same in the API. An access token is an API key that expires, belongs
to a person and opens one resource, so the core's own checks limit it.
"""
