"""Android devices over adb: one handle per device, one parser per command's output."""
