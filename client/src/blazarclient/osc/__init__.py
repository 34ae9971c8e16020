"""Plugin for OpenStackClient."""
