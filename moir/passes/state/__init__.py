"""Passes that make values persist between inferences: ReadValue and Assign."""
