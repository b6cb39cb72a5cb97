"""What runs on a device, or in a device's place."""
