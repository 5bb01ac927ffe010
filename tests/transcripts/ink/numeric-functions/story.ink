{POW(2, 3)} {POW(2.0, 0.5)} {FLOOR(2.7)} {CEILING(2.1)} {INT(-2.7)} {FLOAT(3)}
{MIN(3, 5)} {MAX(3, 5)} {MIN(2.5, 1)}
