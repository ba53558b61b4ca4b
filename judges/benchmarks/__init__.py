"""One folder a benchmark: reader, rubrics, panels, scoring, writer."""
