"""Passes that fuse attention."""
