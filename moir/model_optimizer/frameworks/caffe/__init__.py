"""Caffe models as extensions see them."""
