"""Model Optimizer's API for extensions, on the operations of a module."""
