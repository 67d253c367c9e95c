"""Records of encoders, for embeddings and for the classification of texts."""
