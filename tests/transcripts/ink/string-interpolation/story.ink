VAR who = "Tom"
~ temp line = "I am {who}, {who == "Tom": yes|no}."
{line}
{"{who}{who}"}
