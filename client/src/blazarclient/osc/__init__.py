"""The plugin of OpenStackClient."""
