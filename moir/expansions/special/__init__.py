"""Special functions, by formulas of operations that OpenVINO IR has."""
