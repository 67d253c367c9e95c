"""Forms that the CPU plugin of OpenVINO Runtime executes or loads faster: one file per family of operations."""
