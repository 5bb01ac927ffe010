"""What the world allows and what comes of it: game systems and dice, feasibility, limits, agendas, conflicts; pure."""
