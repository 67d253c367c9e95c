"""Lowering of the `caffe` dialect: a module for each family of layers."""
