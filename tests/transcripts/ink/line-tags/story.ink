A line. # calm
Two tags. # angry # loud
# above
The tag stands above.
