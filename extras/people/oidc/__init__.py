"""Sign-in with OpenID Connect: the code flow with PKCE, for one issuer that the settings name.

`documents.py` reads what an issuer sends, `tokens.py` checks its ID tokens (PyJWT), `journey.py` ties a callback to the
browser that started it, `admission.py` decides who a person is and their role: all pure. `issuer.py` asks the issuer,
through the address guard. `screens.py` has the pages. Only a service with the setting `oidc_issuer` imports more than
this and `screens.py`.
"""
