"""How far a judge can be trusted: arrays and records in, dataclasses out; reads no file."""
