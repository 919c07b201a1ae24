"""The catalogue: defining and finding operations. It knows no face, file or socket."""
