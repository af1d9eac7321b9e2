"""Particle tracking in 3D microscopy, and exact matching."""

from . import matching

__all__ = ["matching"]
