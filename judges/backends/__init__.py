"""What talks to models. The only package that imports openai."""
