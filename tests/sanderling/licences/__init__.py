"""The licences of all that comes with the program: which parts, which texts, and the bill of materials."""
