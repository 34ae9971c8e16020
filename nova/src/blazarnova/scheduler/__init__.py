"""Extensions of nova-scheduler."""
