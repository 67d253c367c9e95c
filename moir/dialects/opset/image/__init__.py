"""Operations on images: resampling, colour, blocks of pixels."""
