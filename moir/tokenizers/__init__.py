"""Tokenizers and detokenizers: from the files of a model to modules with operations of OpenVINO Tokenizers."""
