LIST rooms = hall,
    kitchen,
    (cellar)
{rooms} {LIST_ALL(rooms)}
