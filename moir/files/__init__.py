"""Model files: their recognition, formats that moir does not read, which files a conversion reads."""
