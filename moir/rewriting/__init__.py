"""Building blocks of passes: the builder, the pattern driver, fusion rules, verification."""
