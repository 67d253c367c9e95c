"""MXNet models as extensions see them."""
