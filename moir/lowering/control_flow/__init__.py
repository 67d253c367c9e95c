"""Lowering of control flow for all frameworks: bodies, branches, and the connections of loops."""
