"""The web console under ``/ui/``: its page, sign-in and sessions, and the API with a session's credentials.

The page is built from ``console/`` into ``bundle/``. After sign-in, it sees neither token nor password:
they are in a cookie, encrypted and out of reach of scripts.
"""
