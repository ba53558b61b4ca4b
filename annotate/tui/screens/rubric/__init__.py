"""What people and judges are told, in every version, and what changed between them."""
