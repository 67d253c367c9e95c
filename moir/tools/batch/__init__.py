"""Conversions of many models: manifest, pool of processes, executors, cluster, results, and cache."""
