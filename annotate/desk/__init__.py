"""The rules of the reading desk, without a screen: shared by the terminal app and the line-by-line prompt."""
