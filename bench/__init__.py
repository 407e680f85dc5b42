"""The benchmark: Tallow, onnxruntime-web and LiteRT.js in one Chromium; `python3 build.py bench`.

run.py is the command. cases.py defines what is measured and makes its files, with networks.py;
tflite.py makes those of LiteRT.js, with to_tflite.py; engines.py drives the pages in in_browser/;
hosting.py serves those pages; answers.py compares; figures.py and table.py report; report.py is
shared with cold.py.

cold.py is `bench --cold`: visits.py opens pages as a visitor does, peer_page.py builds the page
that Tallow's is compared with, wire.py simulates connections, trace.py reads Chromium's traces,
cold_table.py reports.

serving.py is `bench --serving`: the service beside onnxruntime in its place, and the storm; what
they drive it with is in service/.

text.py is `bench --text`: text_files.py has what the libraries are given, truth.py compares the
tokens that devices choose.
"""
