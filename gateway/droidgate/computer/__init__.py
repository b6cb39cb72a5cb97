"""What droidgate needs of the computer it runs on: private files, output folders, optional packages, limits."""
