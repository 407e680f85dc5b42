"""What drives `python -m tallow serve`: for `bench --serving`, its storm, and the service's tests.

process.py starts a service; behind.py is the same server with onnxruntime as what computes.
models.py makes the networks, clients.py asks for them, in a process of its own. storm.py sends bad
requests among good ones, of the kinds in faults.py, and memory.py tells whether memory grows.
"""
