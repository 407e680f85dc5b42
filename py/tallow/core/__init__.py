"""What everything else stands on: element types, shapes, arrays without NumPy, switches."""
