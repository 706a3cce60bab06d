"""Checks of the shared corpus that fail, each with what is wrong; an entry goes when that is mended."""

KNOWN = {}
