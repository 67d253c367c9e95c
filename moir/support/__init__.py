"""The foundations of the package, which import no other part of it: records, tables, arguments, base classes of
passes.
"""
