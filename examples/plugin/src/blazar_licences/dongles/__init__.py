"""Reservations of licence dongles, which operators register: a second resource type of this distribution."""
