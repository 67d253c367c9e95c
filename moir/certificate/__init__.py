"""A certificate for a conversion: why each part of an IR computes what the model computes."""
