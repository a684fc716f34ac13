"""How a source is doing: its score, and the notices that say so."""
