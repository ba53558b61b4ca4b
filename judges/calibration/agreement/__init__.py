"""Agreement between raters, one statistic a module."""
