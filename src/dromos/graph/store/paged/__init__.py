"""A store that stays on disk: its file, its rows in pages, and the threads that read them."""
