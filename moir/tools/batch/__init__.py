"""Conversions of many models: manifest, pool of processes, table of results, and cache."""
