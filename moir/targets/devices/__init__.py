"""The devices of OpenVINO Runtime: their documented limits, as records with their sources."""
