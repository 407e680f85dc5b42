"""What the page shows and the tests compute: models, networks, photographs."""
