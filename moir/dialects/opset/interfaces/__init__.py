"""The base classes, traits and properties that the operations of all families share."""
