"""What blocks the desk until it is answered: a failed save."""
