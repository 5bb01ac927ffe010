- (loop)
+ [{&Tap|Knock on} the door] "{!Who is it?|Go away!}"
{loop < 3: -> loop}
-> END
