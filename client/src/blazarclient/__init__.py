"""Client of Blazar, OpenStack's reservation service; the entry point is :mod:`blazarclient.client`."""
