"""What Blazar adds to Nova's scheduler."""
