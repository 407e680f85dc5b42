"""The benchmark: Tallow and onnxruntime-web in one Chromium; `python3 build.py bench`.

run.py is the command. cases.py says what is measured and makes the files for it, with networks.py;
engines.py drives the pages that lie in in_browser/; answers.py compares; figures.py and table.py
report; report.py is what it shares with cold.py.

cold.py is `bench --cold`: visits.py opens pages as a visitor does, peer_page.py is the page that
Tallow's is compared with, wire.py the connection, trace.py reads Chromium's, cold_table.py reports.
"""
