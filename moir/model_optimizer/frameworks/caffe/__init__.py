"""What extensions see of Caffe models."""
