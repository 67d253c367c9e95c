"""StableHLO program, as text, as bytecode or as file of `jax.export` -> module in the `stablehlo` dialect."""

from moir.frontends.stablehlo.model import read_model

__all__ = ["read_model"]
