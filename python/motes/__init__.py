"""Particle tracking in 3D microscopy, and exact matching."""

from . import matching
from ._core import InputError, ResourceError, UsageError
from .linking import estimate_gate, link

__all__ = ["InputError", "ResourceError", "UsageError", "estimate_gate", "link", "matching"]
