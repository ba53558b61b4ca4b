"""The screens of the terminal application, one folder each."""
