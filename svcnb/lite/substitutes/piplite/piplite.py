"""Module in which the kernel stores its settings for the installation of packages."""
