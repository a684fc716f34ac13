"""The frozen nouns, one file each. All of it is pure.

Every record is a `msgspec.Struct(frozen=True)`: cheap to make, strict to decode, the same in every engine.
Times inside records are integers, milliseconds since 1970-01-01 UTC (`Millis`); only the wire form of an event and the
API's answers hold RFC 3339 strings. Start with `event.py`.
"""
