"""Proofs that rewrites keep the meaning of a model, for all inputs and sizes, by the solver z3 (`moir[prove]`)."""
