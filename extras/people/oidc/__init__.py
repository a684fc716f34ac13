"""Sign-in with OpenID Connect: the code flow with PKCE, for the issuer in the settings.

`documents.py` reads an issuer's answers, `tokens.py` checks its ID tokens (PyJWT), `journey.py` ties a callback to the
browser that started it, `admission.py` reads claims and gives roles. `issuer.py` asks the issuer, through the address
guard. `screens.py` has the pages. Only a service with the setting `oidc_issuer` imports more than
this and `screens.py`.
"""
