Text // not this
/* nor
this */
More /* inline */ text.
http:\/\/example.org
