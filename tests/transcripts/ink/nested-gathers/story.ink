* one
  * * one a
  - - inner gather
  * * one b
  - - second inner gather
* two
- outer gather
