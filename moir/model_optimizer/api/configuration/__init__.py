"""Options of the conversion and JSON files that configure transformations."""
