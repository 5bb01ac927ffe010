"""Tools: what agents and other programs may do here, each with the rule that says who."""
