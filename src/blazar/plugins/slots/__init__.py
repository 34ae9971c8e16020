"""Slots: shares of hosts for servers; common to ``virtual:instance`` and ``flavor:instance``."""
