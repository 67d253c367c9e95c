"""Model files: their recognition, formats that moir does not read, and records of the files that a conversion reads."""
