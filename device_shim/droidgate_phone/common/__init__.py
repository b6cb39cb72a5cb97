"""What every room of the phone uses: its clock, its event log, its faults, and streams."""
