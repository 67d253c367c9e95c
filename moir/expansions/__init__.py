"""What an operation is made of, by a builder: mathematics that lowerings, passes and extensions share."""
