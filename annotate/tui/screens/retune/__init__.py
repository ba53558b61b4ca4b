"""A search for a better prompt: its candidates, what each changed, fixed and broke, and what it costs."""
