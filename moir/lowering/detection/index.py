"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "heads": "DetectionOutput MultiBoxDetectionOutput PSROIPooling PriorBoxClustered PriorsDetectionOutput RegionYolo",
}
