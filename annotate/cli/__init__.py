"""The command line: one module a command group; heavy imports happen inside the commands."""
