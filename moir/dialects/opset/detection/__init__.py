"""Operations of detection networks: outputs, proposals, regions, suppression."""
