"""Object detection: non-maximum suppression and pooling of regions."""
