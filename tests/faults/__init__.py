"""Disks, files and budgets that fail: each injected fault must end in a typed error or in the right answer."""
