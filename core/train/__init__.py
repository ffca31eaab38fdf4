"""What made the embedded weights. Optional at run time: see requirements-train.txt."""
