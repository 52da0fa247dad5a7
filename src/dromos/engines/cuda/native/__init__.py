"""Kernels on the GPU for what no program can say, or says at a price; the same names as on the CPU.

Each module has a function of its own name, which takes a graph on the device and its options and gives fields by name,
in the device's order of vertices (``label`` holds given ids, whatever the order); and ``sources()``, all that it may
ever compile: name, text and definitions, for a check on machines without a GPU.
"""
