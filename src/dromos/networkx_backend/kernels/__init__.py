"""Compiled loops that visit nodes in exactly NetworkX's order; imported when first needed."""
