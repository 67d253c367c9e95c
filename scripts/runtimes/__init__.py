"""Which releases of OpenVINO Runtime load and run the IR that moir writes: `python -m scripts.runtimes`."""
