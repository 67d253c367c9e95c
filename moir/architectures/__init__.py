"""Families of language models: records of what each consists of, and the module that a record describes."""
