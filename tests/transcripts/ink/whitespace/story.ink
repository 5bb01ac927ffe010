-> tab
=== tab
	Tabbed   text    keeps inner spaces.
   * 	[ Choice  ]   text   
   -   Gathered.   
-> END
