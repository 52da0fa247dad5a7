"""Every algorithm and program on every parallel path, again and again, on graphs made for threads to collide.

``python -m tests.stress --help`` (or ``make stress``) is the long form; ``test_short.py`` is a short one.
"""
