"""Special functions, by formulas of operations of the operation sets."""
