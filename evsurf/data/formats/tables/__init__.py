"""Tables of events in files of arrays and text: found, understood, and read row by row."""
