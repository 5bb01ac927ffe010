* * deep first
* shallow
  * * * deepest
  * * middle
- gathered
* * deep again
- end
