"""Resizing of images and sampling at positions, for static and for computed sizes."""
