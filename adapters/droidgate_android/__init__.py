"""Android's own files, for every format: APKs, manifests, source trees, app-search documents, handlers."""
