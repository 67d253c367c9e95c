"""What a device will refuse or lose of a model, said before the device is at hand: `moir check`, `--keep-precision`."""
