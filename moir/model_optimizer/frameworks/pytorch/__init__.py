"""What extensions for Model Optimizer's API see of models of PyTorch."""
