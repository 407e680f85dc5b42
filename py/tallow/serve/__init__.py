"""Networks as a service: `python -m tallow serve MODEL...`, by the Open Inference Protocol v2.

KServe's SDK speaks the protocol over REST and gRPC. What is here loads models, gathers requests to
batches, and says what is wrong with a request. Nothing is imported before the command runs.
"""
