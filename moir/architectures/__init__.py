"""Families of language models: records of the parts of each family, and the module that a record describes."""
