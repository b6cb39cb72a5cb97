"""The commands of UFO's MobileAgent."""
