"""The functions that extractors of the front phase use: the messages and attributes of the nodes of a model file."""
