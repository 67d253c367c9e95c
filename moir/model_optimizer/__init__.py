"""Model Optimizer's extension mechanism: its graph, its API, its operations."""
