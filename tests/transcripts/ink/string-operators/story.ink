VAR a = "abc"
{a + "def"}
{a == "abc"} {a != "abc"}
{a ? "bc"} {a ? "x"} {a !? "x"}
{a has "ab"} {a hasnt "ab"}
{"x" + 1 + 2}
