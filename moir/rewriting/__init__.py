"""What passes are made of: the builder, the pattern driver, fusion rules, verification."""
