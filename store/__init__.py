"""DuckDB and the journal: every study is one file and its journal. Knows no benchmark."""
