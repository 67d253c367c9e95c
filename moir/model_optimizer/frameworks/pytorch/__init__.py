"""PyTorch models as extensions for Model Optimizer's API see them."""
