"""WSGI applications for uWSGI and other servers."""
