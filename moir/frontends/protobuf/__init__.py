"""Protobuf's wire format over a memory-mapped file."""
