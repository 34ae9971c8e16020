"""What the plugins have in common that reserve slots: room for single instances on shared hosts."""
