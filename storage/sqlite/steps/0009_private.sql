-- The sealed credentials for a destination's receiver. None: it needs none.
ALTER TABLE destination ADD COLUMN private BLOB;
