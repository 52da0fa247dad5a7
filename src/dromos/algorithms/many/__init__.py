"""What the algorithms that search from many sources at once share: sources, groups, the program, and one way to run."""
