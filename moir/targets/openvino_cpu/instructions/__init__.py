"""What the CPU plugin does not execute with a limit of the instruction set, on a processor that has more of them."""
