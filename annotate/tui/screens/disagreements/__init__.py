"""Where people and the judge differ, item by item."""
