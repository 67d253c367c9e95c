"""Operations on images. Layout: N, H, W, C."""
