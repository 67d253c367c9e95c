"""Language models as extensions for Model Optimizer see them."""
