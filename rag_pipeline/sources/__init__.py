"""Source manifests, document facts and listings."""
