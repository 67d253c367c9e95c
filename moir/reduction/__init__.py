"""Making a model that fails smaller, as long as it still fails."""
