"""The layout change: moving transpositions where they cancel."""
