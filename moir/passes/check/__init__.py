"""Passes that verify what the next stage requires, and change nothing."""
