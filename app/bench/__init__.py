"""Every draft with every rule, compared: the Bench tab and `bench --matrix`."""
