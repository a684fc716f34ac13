"""The licences of all shipped software: parts, texts, and the bill of materials."""
