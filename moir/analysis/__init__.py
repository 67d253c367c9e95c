"""Facts about a module, computed without changing it."""
