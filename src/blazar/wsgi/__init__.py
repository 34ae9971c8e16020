"""WSGI objects for uWSGI and its like."""
