"""What Rookery costs, as figures with aims: each file here measures one thing and can be run alone.

`python -m bench` prints a line for each figure, `name value unit aim ok|short`, and writes the same
to bench/results.json. A figure that is short is news, no error: the tests assert no time.
"""
