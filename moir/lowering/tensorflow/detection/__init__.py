"""Object detection: non-maximum suppression and crops of regions."""
