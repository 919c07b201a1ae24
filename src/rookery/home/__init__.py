"""Reading and writing the files of ROOKERY_HOME, for clients and workers alike."""
