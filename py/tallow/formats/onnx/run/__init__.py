"""From records to graphs, and their runs: stage by stage, with the host's steps between."""
