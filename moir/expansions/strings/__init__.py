"""Strings by their bytes, patterns of text, and operations of OpenVINO Tokenizers."""
