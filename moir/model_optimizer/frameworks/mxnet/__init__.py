"""What extensions see of MXNet models."""
