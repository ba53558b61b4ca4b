"""Keys and rubric, over the desk."""
