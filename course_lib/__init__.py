"""The helper library of the robot arm course: one small module per topic, batch-first NumPy."""
