"""The files of ROOKERY_HOME, used by clients and workers alike."""
