"""The commands of `moir` besides the conversion."""
