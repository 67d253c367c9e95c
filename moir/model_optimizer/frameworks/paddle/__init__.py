"""PaddlePaddle as extensions for Model Optimizer see it."""
