"""Random numbers and random selections."""
