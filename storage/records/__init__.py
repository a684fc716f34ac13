"""The frozen records, one file for each noun. All of it is pure.

Every record is a `msgspec.Struct(frozen=True)`: cheap to make, strict to decode, the same in every engine.
Times in records are integer milliseconds since 1970-01-01 UTC (`Millis`). Only the wire form of an event and the API's
responses use RFC 3339 strings. Start with `event.py`.
"""
