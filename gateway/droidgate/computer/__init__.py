"""What droidgate needs of the computer: private files, output folders, optional packages, limits."""
