"""What the operations of all families share: base classes, traits, properties."""
