"""Client of Blazar, OpenStack's reservation service; begin with :mod:`blazarclient.client`."""
