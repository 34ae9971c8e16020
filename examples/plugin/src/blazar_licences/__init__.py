"""``software:licence``: seats of software licences as a resource type of Blazar."""
