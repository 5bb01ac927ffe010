"""Upload and download routes: covers, .chr archives, data packages."""
