"""Passes that change nothing and refuse what the next stage cannot take."""
