"""Operations of XLA, as jax2tf and tf2xla write them."""
