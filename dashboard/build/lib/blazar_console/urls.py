"""The addresses of the panel; those below ``ui/`` are relative to the page of the console."""

from django.urls import path

from blazar_console import views

urlpatterns = [
    path("", views.PanelView.as_view(), name="index"),
    path("ui/", views.serve_file, name="page"),
    path("ui/session", views.describe_session),
    path("ui/api/<path:rest>", views.pass_on),
    path("ui/<path:name>", views.serve_file),
]
