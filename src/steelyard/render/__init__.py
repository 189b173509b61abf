"""Tables and charts as data, and how they become text and SVG. It knows no row."""
