"""The blocks of a layer: appending their nodes to a network."""
