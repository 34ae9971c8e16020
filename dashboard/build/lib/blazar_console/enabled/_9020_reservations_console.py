"""Enables the panel; its names are those that Horizon looks for."""

PANEL = "reservations_console"
PANEL_DASHBOARD = "project"
PANEL_GROUP = "compute"
ADD_PANEL = "blazar_console.panel.ReservationsConsole"
ADD_INSTALLED_APPS = ["blazar_console"]
