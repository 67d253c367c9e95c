"""Measures how far the outputs of an IR are from those of the model it was made from, on a user's own data: `moir
compare`.
"""
