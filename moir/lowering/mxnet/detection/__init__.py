"""Operations of detection networks."""
