-- Public keys: those of other instances that signed imported events, and our own.
-- x: the public key, base64url, as published.
CREATE TABLE public_key(key_id TEXT PRIMARY KEY, x TEXT NOT NULL, created_at INTEGER NOT NULL) STRICT;
