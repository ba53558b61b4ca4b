"""What a judge's answers come from: chat and embedding servers, a local model, rules."""
