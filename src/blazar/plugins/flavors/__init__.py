"""``flavor:instance``: slots like those that servers of an existing flavor need."""
