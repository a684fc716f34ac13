-- Cookies that a source's origin renewed, sealed. None: none was.
ALTER TABLE source_hot ADD COLUMN jar BLOB;
