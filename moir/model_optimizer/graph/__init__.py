"""Graph, nodes, ports and connections: Model Optimizer's view of a block of operations."""
