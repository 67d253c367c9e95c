"""Functions on graphs and nodes: cutting, walking, marking layouts, making nodes."""
