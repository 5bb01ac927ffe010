VAR name = "Emilia"
VAR age = 31
VAR tall = false
VAR ratio = 1.5
{name} is {age}, {tall: tall|small}, {ratio}.
~ age = age + 1
~ name = "Emily"
{name} is {age}.
