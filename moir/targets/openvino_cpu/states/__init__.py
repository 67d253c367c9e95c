"""Forms of states: their initial values, their element types, and what reads them."""
