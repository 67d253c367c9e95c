"""Raising inside of the `aten` dialect: writes to tensors and to views of them."""
