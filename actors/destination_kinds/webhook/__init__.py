"""The kind `webhook`: a signed POST to a program."""
