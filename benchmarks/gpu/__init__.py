"""Measurements that need a CUDA device."""
