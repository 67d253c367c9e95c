"""The command line tools `moir` and `moir-opt`, and what puts frontends, passes and emission together."""
