"""Everything an author keeps: resources, packages, files and samples."""
