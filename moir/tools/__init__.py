"""The command line tools `moir` and `moir-opt`, which combine frontends, passes and emission."""
