"""The file that enables the panel, to be copied into a folder of Horizon."""
