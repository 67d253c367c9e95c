"""The layout change: moving transpositions to where they cancel."""
