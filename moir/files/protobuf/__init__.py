"""Protobuf: the wire format over a memory-mapped file, and the text format."""
