"""Channels by which notices are delivered: webhooks and mail."""
