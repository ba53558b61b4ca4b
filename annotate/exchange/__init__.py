"""Our own exchange files: exports for people and programs, and their way back in."""
