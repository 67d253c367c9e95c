"""Running models: those of frameworks in their own runtimes, modules in OpenVINO Runtime or by definitions."""
