"""The attributes of nodes: those of operations and of tensors as mappings, and which names they have."""
