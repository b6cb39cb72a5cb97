"""What droidgate needs of the computer it runs on: folders of the user, private files, optional packages."""
